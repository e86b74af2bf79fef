import { Election } from '../../libs/singleton-job/src/leadership/election.js';
import { Replica } from '../../libs/singleton-job/src/leadership/replica.js';
import { TestServer } from '../../libs/singleton-job/src/testing/index.js';
import { Chance } from './chance.js';
import { ProcessClock } from './process-clock.js';
import { SimulatedNetwork } from './simulated-network.js';
import { SimulatedServer } from './simulated-server.js';
import { Timeline } from './timeline.js';

export interface RollingRestart {
  readonly seed: number;
  readonly replicas: number;
  readonly jobs: number;
}

const LOCK_EXPIRY_MS = 1_000;
/** No replica takes a lock that is released in the first `lockExpiry` of a server. */
const START_MS = LOCK_EXPIRY_MS + 100;
const PAUSE_MS = 500;

/** How many jobs each replica leads after all replicas were replaced, one after another. At first each leads the same number. */
export async function afterRollingRestart({ seed, replicas, jobs }: RollingRestart): Promise<number[]> {
  const timeline = new Timeline();
  const clock = new ProcessClock(timeline, { aheadMs: 0, rate: 1 });
  const server = new SimulatedServer({ timeline, data: new TestServer(clock), isProxied: false });
  const start = (name: string): CompetingReplica => new CompetingReplica({ name, seed, timeline, clock, server });
  const all = Array.from({ length: jobs }, (_, index) => `job-${index}`);
  const running = Array.from({ length: replicas }, (_, index) => start(`${index}-0`));
  for (const [index, job] of all.entries()) running[index % replicas]?.compete(job);
  await timeline.passUntil(START_MS);
  for (const [index, job] of all.entries()) {
    for (const [other, replica] of running.entries()) if (other !== index % replicas) replica.compete(job);
  }
  await timeline.passUntil(timeline.nowMs + PAUSE_MS);
  for (const [index, replica] of running.entries()) {
    replica.stop();
    await timeline.passUntil(timeline.nowMs + PAUSE_MS);
    const next = start(`${index}-1`);
    for (const job of all) next.compete(job);
    running[index] = next;
    await timeline.passUntil(timeline.nowMs + PAUSE_MS);
  }
  const led = running.map((replica) => replica.leadingCount);
  for (const replica of running) replica.stop();
  return led;
}

interface CompetingParts {
  readonly name: string;
  readonly seed: number;
  readonly timeline: Timeline;
  readonly clock: ProcessClock;
  readonly server: SimulatedServer;
}

/** A replica that competes for jobs and runs nothing. */
class CompetingReplica {
  readonly #replica: Replica;
  readonly #elections: Election[] = [];

  constructor({ name, seed, timeline, clock, server }: CompetingParts) {
    const store = new SimulatedNetwork({
      timeline,
      clock,
      server,
      data: server.data,
      chance: Chance.of(seed, `${name}'s network`),
      passed: () => undefined,
      carriedOut: () => undefined,
      reading: { heartbeat: () => undefined, lock: () => undefined },
    });
    const random = Chance.of(seed, `${name}'s own chance`).next;
    const settings = { id: name, heartbeatIntervalMs: LOCK_EXPIRY_MS / 4, maxBackoffDelayMs: 30_000 };
    this.#replica = new Replica(settings, { store, clock, random, notify: () => undefined });
  }

  get leadingCount(): number {
    return this.#replica.jobs.leading;
  }

  compete(name: string): void {
    const options = {
      name,
      lockExpiryMs: LOCK_EXPIRY_MS,
      initialDelayMs: 0,
      schedule: { description: 'fixed-rate 1000ms' },
    };
    const election = new Election(this.#replica, options, (term, stop) => firstOf(term.signal, stop));
    this.#elections.push(election);
    void election.run();
    this.#replica.open();
  }

  stop(): void {
    for (const election of this.#elections) election.stop();
    void this.#replica.close();
  }
}

function firstOf(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      signal.addEventListener('abort', () => {
        resolve();
      });
    }
  });
}
