import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';
import { until } from '../../tools/replicas/until.js';
import { Workers } from '../../tools/replicas/workers.js';
import { useRedisServer } from '../support/use-redis.js';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
/** Without these it tries to reach the hosts of its maker. */
const QUIET = ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

const redis = useRedisServer();

describe('The page of the worker, in Chromium', () => {
  let workers: Workers;
  let browser: Browser | undefined;
  let page: Page;
  beforeAll(async () => {
    workers = await Workers.start(redis().url, { SINGLETON_JOB_PROJECT_NAME: 'on-a-page' });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
    page = await browser.newPage();
    const [any] = workers.all;
    await page.goto(any?.url ?? '');
  });
  afterAll(async () => {
    // without a Chromium the workers have started all the same
    await workers.kill();
    await browser?.close();
  });

  const row = (job: string) => page.getByRole('row').filter({ hasText: job });
  const shows = (job: string, text: RegExp) =>
    until(`${job} shows ${String(text)}`, async () => text.test(await row(job).innerText()));

  it('shows leader, last run and next tick of every job, whichever replica leads', async () => {
    const node = workers.leaderOf('price-tick').node;
    await shows('price-tick', new RegExp(`${node}-.*(succeeded|began) .* on ${node}-`, 's'));
    expect(await page.getByRole('row').count()).toBe(5);
  });

  it('runs, pauses and resumes a job', async () => {
    await row('daily-report').getByRole('button', { name: 'Run now' }).click();
    await until('the page says how it ended', async () =>
      /^daily-report: succeeded .* on /.test((await page.getByRole('status').textContent()) ?? ''),
    );
    await shows('daily-report', /succeeded .* on /);
    await row('daily-report').getByRole('button', { name: 'Pause' }).click();
    await shows('daily-report', /paused since/);
    await row('daily-report').getByRole('button', { name: 'Run now' }).click();
    await until('the page says why not', async () =>
      /daily-report: paused/.test((await page.getByRole('alert').textContent()) ?? ''),
    );
    await row('daily-report').getByRole('button', { name: 'Resume' }).click();
    await until(
      'it is resumed',
      async () => (await row('daily-report').getByRole('button', { name: 'Pause' }).count()) === 1,
    );
  });

  it('pauses all jobs until a time, with a reason, and resumes them', async () => {
    await page.getByLabel('Reason').fill('a migration');
    await page.getByLabel('Until').fill('soon');
    await page.getByRole('button', { name: 'Pause all' }).click();
    await until('the page says what is wrong', async () =>
      /until must be a Date/.test((await page.getByRole('alert').textContent()) ?? ''),
    );
    await page.getByLabel('Until').fill('2h');
    await page.getByRole('button', { name: 'Pause all' }).click();
    for (const job of ['price-tick', 'daily-report']) await shows(job, /paused \(all\) since .* until .*: a migration/);
    await page.getByRole('button', { name: 'Resume all' }).click();
    await shows('price-tick', /(succeeded|began) .* on /);
    await until('they are led', () => workers.leadersOf('price-tick').length === 1);
  });

  it.each([360, 768, 1_280])('fits a window of %d px', async (width) => {
    await page.setViewportSize({ width, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  });
});
