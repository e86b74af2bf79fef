import { Redis } from 'ioredis';
import { appendFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { ownFolder, OwnServer } from './own-server.js';
import { findProgram, type Program } from './program.js';

export interface RedisServerOptions {
  /** More arguments of redis-server, such as `['--maxmemory', '10mb']`; they win over the defaults. */
  readonly args?: readonly string[];
  /** Writes every change to disk before it is answered, so that also a killed server keeps its data. @default false */
  readonly appendOnly?: boolean;
  /** Starts a Sentinel, which watches servers and serves no data. @default false */
  readonly sentinel?: boolean;
}

const ANSWER_LIMIT_MS = 500;
const NOTHING_ON_DISK = ['--save', '', '--appendonly', 'no'];
const APPEND_ONLY = ['--appendonly', 'yes', '--appendfsync', 'always'];

let found: Promise<Program> | undefined;

/**
 * Redis 6.2 or later, or any Valkey. REDIS_URL plays no part here: it names a server that runs already and must not be
 * stopped.
 */
export function findRedis(): Promise<Program> {
  return (found ??= findProgram({
    name: 'redis',
    files: ['redis-server', 'valkey-server'],
    chosen: process.env['REDIS_SERVER'],
    packages: ['redis-server', 'redis-tools'],
    isSupported: (version) => /v=(6\.([2-9]|\d\d)|[7-9]|\d\d)/.test(version),
    howToInstall: `Install Redis 6.2 or later:
  Debian, Ubuntu   sudo apt-get install redis-server
  macOS            brew install redis
  Windows          work inside WSL
or set REDIS_SERVER to the path of a redis-server or valkey-server.`,
  }));
}

/** Unlike the borrowed server of REDIS_URL it may be stopped and flushed. */
export class RedisServer extends OwnServer {
  #options: RedisServerOptions = {};

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(await findRedis(), await ownFolder('redis'), await freePort());
    server.#options = options;
    await server.up();
    return server;
  }

  override get url(): string {
    return `redis://127.0.0.1:${String(this.port)}`;
  }

  override async down(): Promise<void> {
    if (this.pid === undefined) return;
    await this.resume();
    await this.#ask((client) => client.shutdown('SAVE')).catch((error: unknown) => {
      // the only answer is that of a refusal; else the connection ends
      if (error instanceof Error && error.name === 'ReplyError') throw error;
    });
    await super.down();
  }

  /**
   * `up()` starts it again: with all its data if it is `appendOnly`, with that of the last SAVE if `keepSnapshot`, else
   * empty.
   */
  override async kill({ keepSnapshot = this.#options.appendOnly ?? false } = {}): Promise<void> {
    await super.kill();
    if (keepSnapshot) return;
    await rm(this.dir, { recursive: true });
    await mkdir(this.dir);
  }

  protected override arguments(): readonly string[] {
    const { args = [], appendOnly = false, sentinel = false } = this.#options;
    // of an argument that is given twice, the last one counts
    const kept = [...NOTHING_ON_DISK, ...(appendOnly ? APPEND_ONLY : [])];
    const all = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.dir, ...kept, ...args];
    if (!sentinel) return all;
    // a Sentinel keeps its settings in a file, and does not start without one
    const file = join(this.dir, 'sentinel.conf');
    appendFileSync(file, '');
    return [file, '--sentinel', ...all];
  }

  protected override async isAnswering(pid: number): Promise<boolean> {
    // a server that loads its data refuses a PING
    const info = this.#ask(async (client) => {
      await client.ping();
      return client.info('server');
    }, ANSWER_LIMIT_MS);
    return (await info.catch(() => '')).includes(`process_id:${String(pid)}\r`);
  }

  async #ask<T>(ask: (client: Redis) => Promise<T>, commandTimeout?: number): Promise<T> {
    const client = new Redis(this.port, '127.0.0.1', {
      lazyConnect: true,
      enableReadyCheck: false,
      connectTimeout: ANSWER_LIMIT_MS,
      ...(commandTimeout !== undefined && { commandTimeout }),
      retryStrategy: null,
    });
    client.on('error', () => undefined);
    try {
      return await ask(client);
    } finally {
      client.disconnect();
    }
  }
}
