import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type Client, TOKENS } from '../support/client.js';
import { until } from '../support/processes.js';
import { World } from '../support/world.js';

const RUNS = 1_200;
const FLAGS = ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--disable-component-update'];

describe('the page', () => {
  let world: World;
  let web: Client;
  let browser: Browser | undefined;
  let page: Page;
  before(async () => {
    world = await World.start({}, { runs: RUNS });
    [web] = await Promise.all([world.program('web'), world.program('worker', { PAGE_TAKES_MS: 1_500 })]);
    browser = await chromium.launch({ executablePath: process.env['CHROMIUM'], args: FLAGS });
  });
  after(async () => {
    await browser?.close();
    await world[Symbol.asyncDispose]();
  });

  const row = (title: string) => page.getByRole('listitem').filter({ hasText: title });
  const untilStatus = (title: string, status: string) =>
    until(`${title} to be ${status}`, async () => (await row(title).locator('output').textContent()) === status);
  const signIn = async (token: string, isOperator = false) => {
    assert.ok(browser);
    page = await browser.newPage();
    await page.goto(web.replica.url);
    await page.getByLabel('Token').fill(token);
    if (isOperator) await page.getByLabel('I am the operator').check();
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  const write = async (title: string) => {
    await page.getByLabel('Title').fill(title);
    await page.getByLabel('Job', { exact: true }).fill('seeded');
    await page.getByRole('button', { name: 'Write a report' }).click();
  };

  it('shows what is wrong', async () => {
    await signIn('a-wrong-token-0123456789');
    await until('a problem', async () => (await page.getByRole('alert').textContent())?.includes('bearer token'));
    await signIn(TOKENS.ada);
    await write(' ');
    await until('a problem', async () =>
      (await page.getByRole('alert').textContent())?.includes('1 to 100 characters'),
    );
  });

  it('submits a report, shows its progress as it comes, and downloads it', async () => {
    await write('Weekly');
    const seen = new Set<number>();
    await until('the report', async () => {
      const bar = row('Weekly').locator('progress');
      if (await bar.count()) seen.add(await bar.evaluate((element) => (element as unknown as { value: number }).value));
      return seen.has(100);
    });
    const isPartial = (percent: number) => percent > 0 && percent < 100;
    assert.ok([...seen].some(isPartial), [...seen].join());
    const boxOf = (name: string) => row('Weekly').locator(name).boundingBox();
    const [status, bar] = await Promise.all([boxOf('output'), boxOf('progress')]);
    assert.ok(status && bar && bar.y >= status.y + status.height, 'the bar is below the status');
    await untilStatus('Weekly', 'Completed');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      row('Weekly').getByRole('button', { name: 'Download' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    assert.equal(lines.length, RUNS + 1);
  });

  it('cancels a report that runs', async () => {
    await write('Too much');
    await untilStatus('Too much', 'Running');
    await row('Too much').getByRole('button', { name: 'Cancel' }).click();
    await untilStatus('Too much', 'Cancelled');
    assert.equal(await row('Too much').getByRole('button').isVisible(), false);
  });

  it('lists my reports, and not those of others', async () => {
    await signIn(TOKENS.ada);
    await untilStatus('Weekly', 'Completed');
    await untilStatus('Too much', 'Cancelled');
    await signIn(TOKENS.bob);
    await page.getByRole('button', { name: 'Write a report' }).waitFor();
    assert.equal(await page.getByRole('listitem').count(), 0);
  });

  it('shows an operator the dead jobs of all users with their errors, and retries them', async () => {
    const payload = { owner: 'bob', title: 'Dead', outcomes: [] };
    const config = { timeout: 1_000, retries: 0 };
    const id = await web.call<string>('jobs', 'scheduleRaw', 'report', payload, config, new Date().toISOString());
    await signIn(TOKENS.operator, true);
    await until('the dead report', async () => {
      await page.getByLabel('Jobs of all users').selectOption('Completed');
      await page.getByLabel('Jobs of all users').selectOption('DeadLettered');
      return (await row(id).textContent())?.includes('timed out after 1000 ms');
    });
    assert.match((await row(id).textContent()) ?? '', /report of bob/);
    await row(id).getByRole('button', { name: 'History' }).click();
    await until('one attempt', async () => /timed out/.test((await row(id).locator('small').textContent()) ?? ''));

    // nothing lies over anything else, at any width
    for (const width of [360, 800, 1_400]) {
      await page.setViewportSize({ width, height: 700 });
      const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      assert.equal(isWide, false, `${String(width)} pixels`);
    }
    await row(id).getByRole('button', { name: 'Retry' }).click();
    await until('its retry', async () => (await web.call<{ attempts: number }>('store', 'getStatus', id)).attempts > 1);
  });
});
