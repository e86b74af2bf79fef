import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { settings } from '../src/settings.js';
import { TOKENS } from './support/client.js';
import { until } from './support/processes.js';
import { World } from './support/world.js';

const ADA = { name: 'ada', token: TOKENS.ada };
const RIGHT = { USERS: JSON.stringify([ADA]), OPERATOR_TOKEN: TOKENS.operator };

/** What is wrong with an environment. */
function mistakesIn(env: Readonly<Record<string, string>>): string[] {
  const before = process.env;
  process.env = { ...RIGHT, ...env };
  try {
    settings();
    return [];
  } catch (error) {
    return (error as Error).message.split('\n').slice(1);
  } finally {
    process.env = before;
  }
}

describe('the settings', () => {
  it('have defaults', () => {
    assert.deepEqual(mistakesIn({}), []);
  });

  it('are all checked at once', () => {
    const wrong = {
      USERS: '[]',
      OPERATOR_TOKEN: 'short',
      REDIS_URL: 'localhost',
      CONCURRENCY: '0',
      LOCK_DURATION_MS: '',
      STALLED_INTERVAL_MS: '2147483648',
      RESULT_TTL_MS: '0',
      REPORT_TIMEOUT_MS: '-1',
      WEBHOOK_RETRY_DELAYS_MS: '1000,-5,1,1,1',
    };
    const mistakes = mistakesIn(wrong);
    for (const name of Object.keys(wrong))
      assert.ok(
        mistakes.some((line) => line.includes(`- ${name}`)),
        name,
      );
    assert.ok(mistakes.some((line) => line.includes('from 1 to 2147483647, got "2147483648"')));
  });

  it('have users that can be told apart, and webhooks that can be called', () => {
    const secret = `whsec_${'a'.repeat(32)}`;
    const right = { ...ADA, webhook: { url: 'https://example.org/reports', secret } };
    assert.deepEqual(mistakesIn({ USERS: JSON.stringify([right]) }), []);
    const lists = [
      '{',
      [{ token: ADA.token }],
      [ADA, { ...ADA, name: 'bob' }],
      [ADA, { ...ADA, token: 'x'.repeat(16) }],
      [{ ...ADA, token: 'short' }],
      [{ ...ADA, webhook: { url: 'not a url', secret } }],
      [{ ...ADA, webhook: { url: 'file:///etc', secret } }],
      [{ ...ADA, webhook: { url: right.webhook.url } }],
      [{ ...ADA, webhook: { url: right.webhook.url, secret: 'whsec_short' } }],
    ];
    for (const list of lists) {
      const mistakes = mistakesIn({ USERS: typeof list === 'string' ? list : JSON.stringify(list) });
      assert.match(mistakes.join(), /- USERS/, JSON.stringify(list));
    }
    assert.match(mistakesIn({ OPERATOR_TOKEN: ADA.token }).join(), /must not be the token of a user/);
  });
});

describe('a process', () => {
  it('does not start with wrong settings or two handlers of one type, and says what is wrong', async () => {
    await using world = await World.start();
    await assert.rejects(world.web({ CONCURRENCY: 0 }), /- CONCURRENCY: must be a whole number/);
    await assert.rejects(world.program('worker', { TWICE: 'yes' }), /@JobHandler\('echo'\) is there twice/);
  });

  it('starts from dist alone, with its page, and is alive and ready unless Redis is away', async () => {
    await using world = await World.start();
    const image = await mkdtemp(join(tmpdir(), 'reports-image-'));
    const here = join(import.meta.dirname, '../..');
    for (const name of ['dist/src', 'package.json']) await cp(join(here, name), join(image, name), { recursive: true });
    await symlink(join(here, 'node_modules'), join(image, 'node_modules'));
    try {
      const [web, worker] = await Promise.all([
        world.web({}, join(image, 'dist')),
        world.worker({}, join(image, 'dist')),
      ]);
      const page = await fetch(web.replica.url);
      assert.match(page.headers.get('content-security-policy') ?? '', /script-src 'sha256-/);
      assert.match(await page.text(), /<h1>Reports/);
      const health = async () => {
        const urls = [web.replica, worker].flatMap(({ url }) => [`${url}/health/live`, `${url}/health/ready`]);
        return Promise.all(urls.map(async (url) => (await fetch(url)).status));
      };
      await until('both to be ready', async () => (await health()).every((status) => status === 200));
      await world.redis.down();
      assert.deepEqual(await health(), [200, 503, 200, 503]);
    } finally {
      await rm(image, { recursive: true });
    }
  });
});
