import { setTimeout as delay } from 'node:timers/promises';
import { REPLICAS, type ReplicaName, STOP_LIMIT_MS } from './cast.js';
import { type Fact } from './facts.js';
import { Replica } from './replica.js';

export interface StageOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly tell: (fact: Fact) => void;
  readonly log: (line: string) => void;
}

/** The replicas: who is there, and the means to start and end them. Leaving it ends them all. */
export class Stage implements AsyncDisposable {
  readonly #replicas = new Map<string, Replica>();

  constructor(private readonly options: StageOptions) {}

  /** Starts a replica, or starts one again that has ended. */
  start(name: ReplicaName): Replica {
    const replica = new Replica({
      ...this.options,
      name,
      log: (line) => {
        this.options.log(`${name} ${line}`);
      },
    });
    this.#replicas.set(name, replica);
    return replica;
  }

  startAll(): void {
    for (const name of REPLICAS) this.start(name);
  }

  find(name: string): Replica | undefined {
    return this.#replicas.get(name);
  }

  /** Asks all to end and kills who has not ended in time. Twice is fine. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#replicas.values()].map(end));
  }
}

async function end(replica: Replica): Promise<void> {
  replica.stop();
  const timer = new AbortController();
  const late = delay(STOP_LIMIT_MS, undefined, { signal: timer.signal }).then(
    () => {
      replica.kill();
    },
    () => undefined,
  );
  await replica.ended;
  timer.abort();
  await late;
}
