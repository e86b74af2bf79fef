import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { run } from './support/processes.js';

const start = (env: NodeJS.ProcessEnv) => run(process.execPath, [join(import.meta.dirname, '../src/web.js')], env);
const ADA = { name: 'ada', token: 'ada-token-0123456789' };

describe('a process with wrong settings', () => {
  it('does not start, and names all of them', async () => {
    const wrong = {
      CONCURRENCY: '0',
      LOCK_DURATION_MS: '',
      STALLED_INTERVAL_MS: '0',
      RESULT_TTL_MS: '1e3',
      REPORT_TIMEOUT_MS: '-1',
      WEBHOOK_RETRY_DELAYS_MS: '1000,-5',
      USERS: '[]',
    };
    const program = start(wrong);
    assert.equal(await program.exited, 1);
    for (const name of Object.keys(wrong)) assert.ok(program.output().includes(`- ${name} must`), name);
  });

  it('does not start with users that cannot be told apart', async () => {
    const lists = [[{ token: ADA.token }], [ADA, { ...ADA, name: 'bob' }], [ADA, { ...ADA, token: 'x'.repeat(16) }]];
    for (const users of lists) {
      const program = start({ USERS: JSON.stringify(users) });
      assert.equal(await program.exited, 1);
      assert.match(program.output(), /USERS must/);
    }
  });
});
