import { execFile } from 'node:child_process';
import { chownSync, readFileSync } from 'node:fs';
import { realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from './free-port.js';
import { ownFolder, OwnServer } from './own-server.js';
import { findProgram, type Program } from './program.js';
import { NOBODY } from './server-process.js';

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // a killed process loses nothing by it, only a machine without power would
  fsync: 'off',
  shared_buffers: '16MB',
};

let found: Promise<Program> | undefined;

function findPostgres(): Promise<Program> {
  const bin = process.env['POSTGRES_BIN'];
  return (found ??= findProgram({
    name: 'postgres',
    files: ['postgres'],
    chosen: bin === undefined ? undefined : join(bin, 'postgres'),
    packages: ['postgresql'],
    howToInstall: `Install PostgreSQL 13 or later:
  Debian, Ubuntu   sudo apt-get install postgresql
  macOS            brew install postgresql
or set POSTGRES_BIN to the folder with postgres and initdb.`,
  }).then(async ({ path, env, version }) => ({
    // a link may stand alone on the PATH
    path: await realpath(path),
    env,
    version: version.replace('postgres (PostgreSQL)', 'PostgreSQL'),
  })));
}

/** Its files outlive a kill, as those of a crashed server do: `up()` starts it again with all that was committed. */
export class PostgresServer extends OwnServer {
  #args: readonly string[] = [];

  /** `args` are more arguments of postgres, such as `['-c', 'max_connections=10']`. */
  static async start(args: readonly string[] = []): Promise<PostgresServer> {
    return PostgresServer.#started(args, async (data, program) => {
      const settings = ['--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8', '--no-locale', '--no-sync'];
      await runTool(program, 'initdb', ['--pgdata', data, ...settings]);
    });
  }

  static async #started(
    args: readonly string[],
    fill: (data: string, program: Program) => Promise<void>,
  ): Promise<PostgresServer> {
    const program = await findPostgres();
    const dir = await ownFolder('postgres');
    giveToPostgres(dir);
    const server = new PostgresServer(program, dir, await freePort(), NOBODY);
    server.#args = args;
    await fill(server.#data, program);
    await server.up();
    return server;
  }

  /**
   * A streaming standby of this server, which takes no writes until it is promoted. `port` may be that of a proxy
   * between the two.
   */
  standby(port = this.port): Promise<PostgresServer> {
    const url = `postgresql://postgres@127.0.0.1:${String(port)}/postgres?application_name=standby`;
    return PostgresServer.#started(this.#args, async (data, program) => {
      const settings = ['--write-recovery-conf', '--checkpoint', 'fast'];
      await runTool(program, 'pg_basebackup', ['--dbname', url, '--pgdata', data, ...settings]);
    });
  }

  /** Makes a standby a primary. */
  async promote(): Promise<void> {
    await runTool(this.program, 'pg_ctl', ['promote', '--wait', '--pgdata', this.#data]);
  }

  /** A copy of the files of a server that is down, to which the returned function goes back. */
  async snapshot(): Promise<() => Promise<void>> {
    const copy = join(this.dir, 'copy');
    const copyTo = (from: string, to: string) => promisify(execFile)('cp', ['--archive', from, to]);
    await copyTo(this.#data, copy);
    return async () => {
      await rm(this.#data, { recursive: true });
      await copyTo(copy, this.#data);
    };
  }

  override get url(): string {
    return this.urlOf('postgres');
  }

  /** The URL for another role, which needs no password. */
  urlOf(role: string): string {
    return `postgresql://${role}@127.0.0.1:${String(this.port)}/postgres`;
  }

  get #data(): string {
    return join(this.dir, 'data');
  }

  protected override arguments(): readonly string[] {
    const settings = Object.entries({ ...SETTINGS, port: this.port });
    return [
      '-D',
      this.#data,
      ...settings.flatMap(([name, value]) => ['-c', `${name}=${String(value)}`]),
      ...this.#args,
    ];
  }

  protected override async isAnswering(): Promise<boolean> {
    const client = new Client({ connectionString: this.url, connectionTimeoutMillis: 500 });
    client.on('error', () => undefined);
    const isConnected = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => undefined);
    return isConnected;
  }

  protected override async end(signal: NodeJS.Signals): Promise<void> {
    const { pid } = this;
    await super.end(signal);
    // no other server starts while a process of this one has its memory
    while (pid !== undefined && sharesMemory(pid)) await delay(10);
  }
}

/** A server reads files of its own user only. */
export function giveToPostgres(path: string): void {
  if (NOBODY.uid !== undefined) chownSync(path, NOBODY.uid, NOBODY.gid);
}

async function runTool({ path, env }: Program, name: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(join(dirname(path), name), args, { ...NOBODY, env, cwd: '/' });
}

/** Whether a process is left that has the shared memory of the server which had this id. */
function sharesMemory(pid: number): boolean {
  return new RegExp(`^( +\\S+){4} +${String(pid)} +\\d+ +[1-9]`, 'm').test(readFileSync('/proc/sysvipc/shm', 'utf8'));
}
