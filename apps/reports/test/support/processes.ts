import { Redis } from 'ioredis';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
process.on('SIGTERM', () => {
  process.exit(1);
});

/** Waits until `check` gives something other than false, null or undefined. */
export async function until<T>(
  what: string,
  check: () => Promise<T> | T,
  limitMs = 60_000,
): Promise<Exclude<NonNullable<T>, false>> {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = await check();
    if (value !== false && value !== null && value !== undefined) return value as Exclude<NonNullable<T>, false>;
    if (Date.now() > end) throw new Error(`Waited ${String(limitMs)} ms for ${what}`);
    await delay(50);
  }
}

export interface Program {
  readonly child: ChildProcess;
  readonly exited: Promise<NodeJS.Signals | number | null>;
  readonly output: () => string;
  readonly stop: (signal?: NodeJS.Signals) => Promise<NodeJS.Signals | number | null>;
}

export function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Program {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<NodeJS.Signals | number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      children.delete(child);
      resolve(signal ?? code);
    });
  });
  exited.catch(() => undefined);
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return exited;
  };
  return { child, exited, output: () => output, stop };
}

/** A Redis of a test's own. It writes each change to disk before it answers, so a killed one keeps its data. */
export class RedisServer {
  #program: Program | undefined;
  readonly client: Redis;

  private constructor(
    private readonly port: number,
    private readonly dir: string,
  ) {
    this.client = new Redis(port, '127.0.0.1', {
      lazyConnect: true,
      maxRetriesPerRequest: null,
      retryStrategy: () => 100,
    });
    this.client.on('error', () => undefined);
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), await mkdtemp(join(tmpdir(), 'reports-redis-')));
    await server.up();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${String(this.port)}`;
  }

  async up(): Promise<void> {
    const args = ['--port', this.port, '--bind', '127.0.0.1', '--dir', this.dir, '--save', '', '--appendonly', 'yes'];
    const binary = process.env['REDIS_SERVER_BINARY'] ?? 'redis-server';
    this.#program = run(binary, [...args.map(String), '--appendfsync', 'always'], process.env);
    const { exited, output } = this.#program;
    const failed = exited.then(() => Promise.reject(new Error(output())));
    await Promise.race([this.client.ping(), failed]);
  }

  async down(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.#program?.stop(signal);
  }

  /** Redis answers nothing, and keeps its connections open. */
  hang(): void {
    this.#program?.child.kill('SIGSTOP');
  }

  goOn(): void {
    this.#program?.child.kill('SIGCONT');
  }

  async end(): Promise<void> {
    this.client.disconnect();
    await this.down('SIGKILL');
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** Below the ports of outgoing connections, so that no other program takes it while the server is down. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}
