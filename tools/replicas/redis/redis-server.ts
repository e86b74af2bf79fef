import { appendFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from '../free-port.js';
import { locateRedisServer } from './locate-redis-server.js';
import { launch, type RedisBinary, type RunningRedis } from './redis-binary.js';

export interface RedisServerOptions {
  /** More arguments of redis-server, such as `['--maxmemory', '10mb']`; they win over the defaults. */
  readonly args?: readonly string[];
  /** Writes every change to disk before it is answered, so that also a killed server keeps its data. @default false */
  readonly appendOnly?: boolean;
  /** Starts a Sentinel, which watches servers and serves no data. @default false */
  readonly sentinel?: boolean;
}

const START_LIMIT_MS = 30_000;
/** Another program may have the port, and never answer. */
const ANSWER_LIMIT_MS = 500;
const NOTHING_ON_DISK = ['--save', '', '--appendonly', 'no'];
const APPEND_ONLY = ['--appendonly', 'yes', '--appendfsync', 'always'];

/**
 * A private Redis on a free loopback port. It can be stopped, killed, hung and started again, unlike the borrowed server of REDIS_URL.
 * It ends with this process, for any reason.
 */
export class RedisServer implements AsyncDisposable {
  readonly #binary: RedisBinary;
  readonly #args: readonly string[];
  readonly #appendOnly: boolean;
  readonly #isSentinel: boolean;
  readonly #dir: string;
  #port: number;
  #running: RunningRedis | undefined;

  private constructor(binary: RedisBinary, dir: string, port: number, options: RedisServerOptions) {
    this.#binary = binary;
    this.#dir = dir;
    this.#port = port;
    this.#appendOnly = options.appendOnly ?? false;
    this.#isSentinel = options.sentinel ?? false;
    // of an argument that is given twice, the last one counts
    const kept = this.#appendOnly ? APPEND_ONLY : [];
    this.#args = ['--bind', '127.0.0.1', '--dir', dir, ...NOTHING_ON_DISK, ...kept, ...(options.args ?? [])];
  }

  /** Resolves once the server answers a PING. */
  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const binary = await locateRedisServer();
    const dir = await mkdtemp(join(tmpdir(), 'singleton-job-redis-'));
    const server = new RedisServer(binary, dir, await freePort(), options);
    for (let attempt = 1; ; attempt++) {
      try {
        await server.up();
        return server;
      } catch (error) {
        if (attempt === 3) {
          await server.stop();
          throw error;
        }
        // another process may have taken the port since it was found free
        server.#port = await freePort();
      }
    }
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `redis://127.0.0.1:${String(this.#port)}`;
  }

  /** Which Redis this is, for one line of a log. */
  get source(): string {
    return `${this.#binary.path} (${this.#binary.version})`;
  }

  /** Undefined while it is down. */
  get pid(): number | undefined {
    return this.#running?.pid;
  }

  /** Starts a server that is down, on the same port; does nothing to one that is up. Resolves once it answers. */
  async up(): Promise<void> {
    if (this.#running !== undefined) return;
    await mkdir(this.#dir, { recursive: true });
    const running = launch(this.#binary, this.#dir, await this.#arguments());
    const ended = new AbortController();
    void running.exited.then(() => {
      ended.abort();
    });
    const giveUpAt = performance.now() + START_LIMIT_MS;
    while (!(await this.#isAnswering(running.pid))) {
      if (ended.signal.aborted || performance.now() > giveUpAt) {
        running.signal('SIGKILL');
        await running.exited;
        throw new Error(`Redis (${this.source}) did not start on port ${String(this.#port)}:\n${await this.#log()}`);
      }
      await delay(10);
    }
    this.#running = running;
  }

  /** Shuts it down in an orderly way; connections to its port are refused then. `up()` starts it again, with or without its data. */
  async down({ keepData = true }: { keepData?: boolean } = {}): Promise<void> {
    if (this.#running === undefined) return;
    await this.resume();
    if (keepData) await this.#saveAndShutDown();
    await this.#end('SIGTERM');
    if (!keepData) await this.#forget();
  }

  /** Down and up again. */
  async restart(options: { keepData?: boolean } = {}): Promise<void> {
    await this.down(options);
    await this.up();
  }

  /**
   * Ends it as a crash does. `up()` starts it again: with all its data if it was started with `appendOnly`, with that of the last SAVE
   * if `keepSnapshot`, else empty.
   */
  async kill({ keepSnapshot = false }: { keepSnapshot?: boolean } = {}): Promise<void> {
    await this.#end('SIGKILL');
    if (!this.#appendOnly && !keepSnapshot) await this.#forget();
  }

  /** Hangs it: connections stay open and are accepted, and nothing is answered until `resume()`. Not on Windows. */
  pause(): Promise<void> {
    this.#running?.signal('SIGSTOP');
    return Promise.resolve();
  }

  resume(): Promise<void> {
    this.#running?.signal('SIGCONT');
    return Promise.resolve();
  }

  /** Ends it for good and removes its files. Twice is fine, and so is a paused or a killed one. */
  async stop(): Promise<void> {
    await this.#end('SIGKILL');
    await this.#forget();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #arguments(): Promise<string[]> {
    const args = ['--port', String(this.#port), ...this.#args];
    if (!this.#isSentinel) return args;
    // a Sentinel keeps its settings in a file, and does not start without one
    const file = join(this.#dir, 'sentinel.conf');
    await appendFile(file, '');
    return [file, '--sentinel', ...args];
  }

  /** False while nothing listens, while it loads its data, and when another program has the port. */
  async #isAnswering(pid: number): Promise<boolean> {
    try {
      return await this.#asked(async (client) => {
        await client.ping();
        return (await client.info('server')).includes(`process_id:${String(pid)}\r`);
      }, ANSWER_LIMIT_MS);
    } catch {
      return false;
    }
  }

  /** Rejects where the server refuses. */
  async #saveAndShutDown(): Promise<void> {
    await this.#asked((client) => client.shutdown('SAVE')).catch((error: unknown) => {
      // the only answer is that of a refusal; else the connection ends
      if (error instanceof Error && error.name === 'ReplyError') throw error;
    });
  }

  async #asked<T>(ask: (client: Redis) => Promise<T>, limitMs = Infinity): Promise<T> {
    const client = new Redis(this.#port, '127.0.0.1', {
      lazyConnect: true,
      enableReadyCheck: false,
      connectTimeout: ANSWER_LIMIT_MS,
      ...(limitMs < Infinity && { commandTimeout: limitMs }),
      retryStrategy: null,
    });
    client.on('error', () => undefined);
    try {
      return await ask(client);
    } finally {
      client.disconnect();
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    running?.signal(signal);
    await running?.exited;
  }

  async #forget(): Promise<void> {
    await rm(this.#dir, { recursive: true, force: true });
  }

  async #log(): Promise<string> {
    return readFile(join(this.#dir, 'redis.log'), 'utf8').catch(() => '(it wrote no log)');
  }
}
