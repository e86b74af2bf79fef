import { join } from 'node:path';
import { Client, TOKENS, usersWith } from './client.js';
import { type Program, RedisServer, run, until } from './processes.js';

/** The folder of the compiled programs, or of the same ones in other files. */
const PROGRAMS = process.env['PROGRAMS'] ?? join(import.meta.dirname, '../..');

type Env = Readonly<Record<string, string | number>>;

/** A program of the application that listens. */
export interface Replica extends Program {
  readonly url: string;
}

/** A Redis, and the programs of the application around it. Faults of workers are noticed within four seconds. */
export class World implements AsyncDisposable {
  readonly #programs: Replica[] = [];
  readonly #env: NodeJS.ProcessEnv;

  private constructor(
    readonly redis: RedisServer,
    env: Env,
  ) {
    this.#env = {
      ...process.env,
      NO_COLOR: '1',
      REDIS_URL: redis.url,
      USERS: usersWith(),
      OPERATOR_TOKEN: TOKENS.operator,
      LOCK_DURATION_MS: '3000',
      STALLED_INTERVAL_MS: '500',
      LOCK_EXPIRY_MS: '2000',
      // a busy machine is no outage
      REDIS_TIMEOUT_MS: '30000',
      STOP_LIMIT_MS: '5000',
      ...asText(env),
    };
  }

  /** `runs`: how many reports find with `job: 'seeded'`, numbered from 0, from `AT` to now. */
  static async start(env: Env = {}, { runs = 0 } = {}): Promise<World> {
    const world = new World(await RedisServer.start(), env);
    const adding = world.redis.client.pipeline();
    const stepMs = Math.floor((Date.now() - AT) / runs);
    for (let i = 0; i < runs; i++) {
      const fields = { job: 'seeded', outcome: 'succeeded', scheduledAt: i, durationMs: 1, fencingToken: 7, error: '' };
      adding.xadd('reports:runs', `${String(AT + i * stepMs)}-0`, ...Object.entries(fields).flat());
    }
    await adding.exec();
    return world;
  }

  /** `folder`: that has `src`. */
  async web(env: Env = {}, folder = PROGRAMS): Promise<Client> {
    return new Client(await this.#start(join(folder, 'src/web.js'), env));
  }

  async worker(env: Env = {}, folder = PROGRAMS): Promise<Replica> {
    return this.#start(join(folder, 'src/worker.js'), env);
  }

  /** A web replica or a worker with a fault, with handlers for tests, and with `call()` to reach its providers. */
  async program(role: 'web' | 'worker', env: Env = {}): Promise<Client> {
    return new Client(await this.#start(join(PROGRAMS, 'test/support/program.js'), { ...env, ROLE: role }));
  }

  /** A receiver of webhooks. */
  async receiver(env: Env): Promise<Replica> {
    return this.#start(join(import.meta.dirname, 'receiver.js'), env);
  }

  /** How often each job was completed. */
  completions(): Promise<Map<string, number>> {
    return this.events('completed');
  }

  /** How often each job had an event, from the stream of BullMQ's events. */
  async events(event: string): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const [, fields] of await this.redis.client.xrange('reports:durable-jobs:events', '-', '+')) {
      const id = fields[fields.indexOf('jobId') + 1] ?? '';
      if (fields[1] === event) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  }

  /** Waits until no job waits or runs. */
  async untilIdle(): Promise<void> {
    const { client } = this.redis;
    const queue = 'reports:durable-jobs';
    await until('no job', async () => {
      const [prioritized, waiting, active] = await Promise.all([
        client.zcard(`${queue}:prioritized`),
        client.llen(`${queue}:wait`),
        client.llen(`${queue}:active`),
      ]);
      return prioritized + waiting + active === 0;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop('SIGKILL')));
    await this.redis.end();
  }

  async #start(script: string, env: Env): Promise<Replica> {
    const program = run(process.execPath, [script], { ...this.#env, ...asText(env) });
    const find = () =>
      /answers at (http:\S+)/.exec(program.output())?.[1] ?? (program.child.exitCode === null ? null : '');
    const url = await until(script, find, 180_000);
    if (url === '') throw new Error(program.output());
    const replica = { ...program, url };
    this.#programs.push(replica);
    return replica;
  }
}

/** A time in the past. */
const AT = Date.parse('2026-01-01T00:00:00Z');

const asText = (env: Env) => Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));
