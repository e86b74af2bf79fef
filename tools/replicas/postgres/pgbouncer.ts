import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { unpackDebian } from '../debian-packages.js';
import { freePort } from '../free-port.js';
import { guard } from '../guard.js';
import { isThere, type PostgresServer } from './postgres-server.js';

/** pgbouncer refuses to run as root. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A pgbouncer before a server. */
export class Pgbouncer implements AsyncDisposable {
  private constructor(
    readonly url: string,
    private readonly end: () => Promise<void>,
  ) {}

  static async start(server: PostgresServer, mode: 'transaction' | 'statement'): Promise<Pgbouncer> {
    const { file, env } = await locate();
    const dir = await mkdtemp(join(tmpdir(), 'singleton-job-pgbouncer-'));
    await chmod(dir, 0o755);
    const port = await freePort();
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      auth_type: 'any',
      pool_mode: mode,
      default_pool_size: 4,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${String(value)}`);
    const database = `* = host=127.0.0.1 port=${String(server.port)} user=postgres`;
    const ini = join(dir, 'pgbouncer.ini');
    await writeFile(ini, ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'));
    const child = spawn(file, [ini], { ...USER, env, stdio: 'ignore', detached: true });
    const { pid } = child;
    if (pid === undefined) throw new Error(`${file} cannot be started`);
    const guarded = guard(pid, dir);
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => {
        guarded.dismiss();
        resolve();
      });
    });
    return new Pgbouncer(`postgresql://postgres@127.0.0.1:${String(port)}/postgres`, async () => {
      child.kill('SIGKILL');
      await exited;
      await rm(dir, { recursive: true, force: true });
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}

async function locate(): Promise<{
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}> {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']) {
    const file = join(folder, 'pgbouncer');
    if (await isThere(file)) return { file, env: process.env };
  }
  const unpacked = await unpackDebian('pgbouncer', ['pgbouncer']);
  if (unpacked === undefined)
    throw new Error('No pgbouncer to start: install it, as with sudo apt-get install pgbouncer');
  return { file: join(unpacked.root, 'usr/sbin/pgbouncer'), env: unpacked.env };
}
