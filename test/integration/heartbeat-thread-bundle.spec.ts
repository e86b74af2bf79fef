import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { attempt } from '../../tools/workspace/command.js';
import { ROOT } from '../../tools/workspace/paths.js';

const MAIN = `
  import { HeartbeatThread } from './heartbeat-thread/heartbeat-thread.ts';
  const options = process.argv[2] === undefined ? {} : { workerFile: process.argv[2] };
  const thread = new HeartbeatThread({ storeOptions: { projectName: 'p', connection: process.argv[3] ?? 'redis://127.0.0.1:1' }, options, notify: () => {} });
  thread.start().then(() => { console.log('started'); return thread.close(); }, ({ message }) => console.log(message));`;

describe('In a bundle, the heartbeat thread', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'singleton-job-bundle-'));
    const library = join(ROOT, 'libs/singleton-job/src');
    const common = { bundle: true, platform: 'node', format: 'cjs', logLevel: 'error' } as const;
    const stdin = { contents: MAIN, resolveDir: library, loader: 'ts' } as const;
    await build({ ...common, stdin, outfile: join(folder, 'main.cjs') });
    await build({
      ...common,
      entryPoints: [join(library, 'heartbeat-thread/index.ts')],
      outfile: join(folder, 'thread.cjs'),
    });
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  const run = async (...args: string[]): Promise<string> => {
    const { output } = await attempt(process.execPath, ['main.cjs', ...args], { cwd: folder, limitMs: 60_000 });
    return output.trim();
  };

  it('is started from the file that workerFile names', async () => {
    expect(await run('./thread.cjs')).toBe('started');
  });

  it('also with PostgreSQL, which loads pg from node_modules', async () => {
    expect(await run('./thread.cjs', 'postgresql://127.0.0.1:1/p')).toBe('started');
  });

  it('is not found without workerFile, and the mistake says what to do', async () => {
    expect(await run()).toContain('name it in heartbeatThread: { workerFile }');
  });
});
