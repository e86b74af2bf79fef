import { execFile, spawn } from 'node:child_process';
import { chownSync, closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { access, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { ROOT } from '../../workspace/paths.js';
import { freePort } from '../free-port.js';
import { unpackDebian } from '../debian-packages.js';
import { guard } from '../guard.js';

const START_LIMIT_MS = 30_000;
const DEBIAN = 'usr/lib/postgresql';
const NOT_FOUND = `No PostgreSQL to start: none on the PATH, and none to be had as a Debian package. Install PostgreSQL 13 or later:
  Debian, Ubuntu   sudo apt-get install postgresql
  macOS            brew install postgresql
or set POSTGRES_BIN to the folder with postgres and initdb.`;

/** postgres refuses to run as root. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

interface Binaries {
  readonly bin: string;
  /** `PostgreSQL 15.18`. */
  readonly version: string;
  /** The environment that they find their libraries in. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Running {
  readonly pid: number;
  readonly exited: Promise<void>;
  /** Keeps this process alive until the server has ended. */
  ref(): void;
}

/**
 * A private PostgreSQL on a free loopback port. It can be stopped, killed, hung and started again. Its files outlive a kill, as those of a
 * crashed server do. It ends with this process, for any reason.
 */
export class PostgresServer implements AsyncDisposable {
  readonly #binaries: Binaries;
  readonly #dir: string;
  readonly #args: readonly string[];
  readonly port: number;
  #running: Running | undefined;

  private constructor(binaries: Binaries, dir: string, port: number, args: readonly string[]) {
    this.#binaries = binaries;
    this.#dir = dir;
    this.port = port;
    this.#args = args;
  }

  /** Resolves once the server accepts connections. `args` are more arguments of postgres, such as `['-c', 'max_connections=10']`. */
  static async start(args: readonly string[] = []): Promise<PostgresServer> {
    const binaries = await locate();
    const dir = await ownFolder();
    const init = ['--pgdata', join(dir, 'data'), '--username', 'postgres', '--auth', 'trust'];
    await promisify(execFile)(
      join(binaries.bin, 'initdb'),
      [...init, '--encoding', 'UTF8', '--no-locale', '--no-sync'],
      { ...USER, env: binaries.env },
    );
    const server = new PostgresServer(binaries, dir, await freePort(), args);
    await server.up();
    return server;
  }

  /** A streaming standby of this server, which takes no writes until it is promoted. `port` may be that of a proxy between the two. */
  async standby(port = this.port): Promise<PostgresServer> {
    const dir = await ownFolder();
    const url = `postgresql://postgres@127.0.0.1:${String(port)}/postgres?application_name=standby`;
    const from = ['--dbname', url, '--pgdata', join(dir, 'data')];
    await this.#program('pg_basebackup', ...from, '--write-recovery-conf', '--checkpoint', 'fast');
    const server = new PostgresServer(this.#binaries, dir, await freePort(), this.#args);
    await server.up();
    return server;
  }

  /** Makes a standby a primary. */
  async promote(): Promise<void> {
    await this.#program('pg_ctl', 'promote', '--wait', '--pgdata', join(this.#dir, 'data'));
  }

  /** A copy of the files of a server that is down, to which the returned function goes back. */
  async snapshot(): Promise<() => Promise<void>> {
    const [data, copy] = [join(this.#dir, 'data'), join(this.#dir, 'copy')];
    const copyTo = (from: string, to: string) => promisify(execFile)('cp', ['--archive', from, to]);
    await copyTo(data, copy);
    return async () => {
      await rm(data, { recursive: true });
      await copyTo(copy, data);
    };
  }

  get url(): string {
    return this.urlOf('postgres');
  }

  /** The URL for another role, which needs no password. */
  urlOf(role: string): string {
    return `postgresql://${role}@127.0.0.1:${String(this.port)}/postgres`;
  }

  /** Which PostgreSQL this is, for one line of a log. */
  get source(): string {
    return `${this.#pathOf('postgres')} (${this.#binaries.version})`;
  }

  #pathOf(program: string): string {
    return join(this.#binaries.bin, program);
  }

  /** Starts a server that is down, on the same port and with its files. */
  async up(): Promise<void> {
    if (this.#running !== undefined) return;
    const running = this.#launch();
    const ended = new AbortController();
    void running.exited.then(() => {
      ended.abort();
    });
    const giveUpAt = performance.now() + START_LIMIT_MS;
    while (!(await this.#isAnswering())) {
      if (ended.signal.aborted || performance.now() > giveUpAt) {
        signalAll(running.pid, 'SIGKILL');
        throw new Error(`PostgreSQL (${this.source}) did not start on port ${String(this.port)}:\n${await this.log()}`);
      }
      await delay(20);
    }
    this.#running = running;
  }

  /** Shuts it down: it ends all connections, and its data is kept. */
  down(): Promise<void> {
    return this.#end('SIGINT');
  }

  async restart(): Promise<void> {
    await this.down();
    await this.up();
  }

  /** Ends all its processes as a crash of the machine does. `up()` starts it again with all that was committed. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** The log of the server; with `log_statement = 'all'` it has each statement with its parameters. */
  log(): Promise<string> {
    return readFile(join(this.#dir, 'log'), 'utf8');
  }

  /** Hangs it: connections stay open, and nothing is answered until `resume()`. */
  pause(): Promise<void> {
    if (this.#running !== undefined) signalAll(this.#running.pid, 'SIGSTOP');
    return Promise.resolve();
  }

  resume(): Promise<void> {
    if (this.#running !== undefined) signalAll(this.#running.pid, 'SIGCONT');
    return Promise.resolve();
  }

  /** Ends it for good and removes its files. */
  async stop(): Promise<void> {
    await this.#end('SIGKILL');
    await rm(this.#dir, { recursive: true, force: true, maxRetries: 5 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #launch(): Running {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: this.port,
      unix_socket_directories: '',
      // a killed process loses nothing by it, only a machine without power would
      fsync: 'off',
      shared_buffers: '16MB',
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${String(value)}`]);
    const log = openSync(join(this.#dir, 'log'), 'a');
    const child = spawn(this.#pathOf('postgres'), ['-D', join(this.#dir, 'data'), ...args, ...this.#args], {
      ...USER,
      env: this.#binaries.env,
      cwd: this.#dir,
      stdio: ['ignore', log, log],
      // in a process group of its own: Ctrl-C is for the program that uses it, which stops it last
      detached: true,
    });
    closeSync(log);
    const { pid } = child;
    if (pid === undefined) throw new Error(`${this.#pathOf('postgres')} cannot be started`);
    const guarded = guard(pid, this.#dir);
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => {
        guarded.dismiss();
        resolve();
      });
    });
    // a server that was not stopped must not keep this process alive; the guard ends it
    child.unref();
    const ref = (): void => {
      child.ref();
    };
    return { pid, exited, ref };
  }

  async #program(name: string, ...args: readonly string[]): Promise<void> {
    await promisify(execFile)(this.#pathOf(name), args, {
      ...USER,
      env: this.#binaries.env,
      cwd: this.#dir,
    });
  }

  async #isAnswering(): Promise<boolean> {
    const client = new Client({ connectionString: this.url, connectionTimeoutMillis: 500 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async #end(signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined) return;
    running.ref();
    // a process that hangs does not shut down
    signalAll(running.pid, 'SIGCONT');
    if (signal === 'SIGKILL') signalAll(running.pid, signal);
    else process.kill(running.pid, signal);
    await running.exited;
    // no other server starts while a process of this one has its memory
    while (sharesMemory(running.pid)) await delay(10);
  }
}

async function ownFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'singleton-job-postgres-'));
  giveToPostgres(dir);
  return dir;
}

/** A server reads files of its own user only. */
export function giveToPostgres(path: string): void {
  if (USER.uid !== undefined) chownSync(path, USER.uid, USER.gid);
}

/** Sends a signal to the server and to the process of each connection. */
function signalAll(pid: number, signal: NodeJS.Signals): void {
  for (const each of [pid, ...childrenOf(pid)]) {
    try {
      process.kill(each, signal);
    } catch {
      // it has ended meanwhile
    }
  }
}

function childrenOf(pid: number): number[] {
  const parentOf = (child: string): number => {
    try {
      return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${child}/stat`, 'utf8'))?.[1]);
    } catch {
      return NaN;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
}

/** Whether a process is left that has the shared memory of the server which had this id. */
function sharesMemory(pid: number): boolean {
  return new RegExp(`^( +\\S+){4} +${String(pid)} +\\d+ +[1-9]`, 'm').test(readFileSync('/proc/sysvipc/shm', 'utf8'));
}

let located: Promise<Binaries> | undefined;

/**
 * The programs of a PostgreSQL, from the first of: POSTGRES_BIN, the PATH, the installed packages of Debian or Ubuntu, such packages fetched
 * once without root.
 */
function locate(): Promise<Binaries> {
  return (located ??= (async () => {
    const { env } = process;
    const chosen = env['POSTGRES_BIN'];
    const onPath = (env['PATH'] ?? '').split(delimiter);
    const installed = await firstWith(chosen === undefined ? [...onPath, ...versions('/')] : [chosen]);
    if (installed !== undefined) return { bin: installed, version: await versionOf(installed, env), env };
    const unpacked = chosen === undefined ? await unpackDebian('postgres', ['postgresql']) : undefined;
    const bin = await firstWith(versions(unpacked?.root ?? ROOT));
    if (bin === undefined || unpacked === undefined) throw new Error(NOT_FOUND);
    return { bin, version: await versionOf(bin, unpacked.env), env: unpacked.env };
  })());
}

async function versionOf(bin: string, env: Binaries['env']): Promise<string> {
  const { stdout } = await promisify(execFile)(join(bin, 'postgres'), ['--version'], { env });
  return `PostgreSQL ${/[\d.]+/.exec(stdout)?.[0] ?? 'of an unknown version'}`;
}

/** The newest first. */
function versions(root: string): string[] {
  const folder = join(root, DEBIAN);
  try {
    return readdirSync(folder)
      .toSorted((a, b) => Number(b) - Number(a))
      .map((version) => join(folder, version, 'bin'));
  } catch {
    return [];
  }
}

async function firstWith(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    // a link may stand alone on the PATH
    if (await isThere(join(folder, 'initdb'))) return dirname(await realpath(join(folder, 'initdb')));
  }
  return undefined;
}

export function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
