import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../tools/replicas/until.js';
import { SERVER_KINDS } from '../../tools/servers/servers.js';
import { tool } from '../../tools/workspace/command.js';
import { ROOT } from '../../tools/workspace/paths.js';

describe('the demo', () => {
  it.concurrent.each(SERVER_KINDS)('stops a leader, kills the next one, and shows who leads then: %s', async (kind) => {
    const output = await tool('demo/main.ts', [`--${kind}`], {
      env: { FORCE_COLOR: undefined, DEMO_LOCK_EXPIRY: '4s' },
    });
    expect(output).toMatch(/ Building the worker, starting \w+ \.+\n/);
    expect(output).toContain('No two runs of a job overlapped');
    expect(output).toMatch(/(\w) is stopped[^]* price-tick +\1 releases it\n[^]* price-tick +\w leads, token \d+/);
    expect(output).toMatch(/(\w) is killed[^]* \1 is gone\n[^]* price-tick +\w leads, token \d+/);
    expect(output.match(/^ \w led price-tick \d+ ms after /gm)).toHaveLength(2);
    expect(output).not.toContain('\u001b');
    expect(output).not.toContain(' failed on ');
  });

  it.concurrent('stops its replicas and its server on Ctrl-C', async () => {
    const tmp = await mkdtemp(join(tmpdir(), 'demo-spec-'));
    // a server that refuses to run as root finds its folder in it
    await chmod(tmp, 0o711);
    // as a shell starts it: in a process group of its own
    const demo = spawn(process.execPath, ['--import', 'tsx', 'tools/demo/main.ts'], {
      cwd: ROOT,
      env: { ...process.env, TMPDIR: tmp },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    let output = '';
    demo.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    /** False if the group has no process. */
    const signalGroup = (signal: NodeJS.Signals | 0): boolean => {
      try {
        return process.kill(-(demo.pid ?? NaN), signal);
      } catch {
        return false;
      }
    };
    try {
      await until('it runs', () => /price-tick .*runs on/.test(output), { details: () => output });
      const closed = once(demo, 'close');
      signalGroup('SIGINT');
      expect(await closed).toEqual([130, null]);
      expect(output).toContain('ended by SIGINT');
      await until('its processes are gone', () => !signalGroup(0));
      // a server that still runs has its folder
      expect((await readdir(tmp)).filter((name) => name.startsWith('singleton-job'))).toEqual([]);
    } finally {
      signalGroup('SIGKILL');
      await rm(tmp, { recursive: true, force: true });
    }
  });
});
