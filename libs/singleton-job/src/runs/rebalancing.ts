import { type Clock } from '../base/time/clock.js';
import { sleep } from '../base/time/sleep.js';
import { replicaOf } from '../leadership/record.js';
import { type Replica } from '../leadership/replica.js';
import { type Term } from '../leadership/term.js';
import { type RebalanceTimes } from '../options/resolve-options.js';
import { firstDelayMs } from './inheritance.js';
import { type ActiveJob } from './job-pool.js';

/** With a smaller difference, a job could as well move back. */
const LEAST_DIFFERENCE = 2;

/**
 * Evens out how many jobs the replicas lead. Each replica sees every holder and every living lease. One that leads at least two more than another
 * gives one idle job back each round and stands back. The replicas that lead fewest try to take it first, because they wait least.
 */
export class Rebalancing {
  readonly #stop = new AbortController();

  constructor(
    private readonly parts: {
      readonly replica: Replica;
      readonly clock: Clock;
      /** In [0, 1). */
      readonly random: () => number;
      readonly times: RebalanceTimes;
      /** The jobs that this replica competes for. */
      readonly jobs: () => readonly ActiveJob[];
    },
  ) {}

  /** Gives away one job each round, until it is stopped. Never rejects. */
  async run(): Promise<void> {
    const { clock, random, times } = this.parts;
    const { signal } = this.#stop;
    for (;;) {
      // at different times on each replica: it sees what the others have given away
      await sleep(clock, times.intervalMs * (1 + 0.2 * random()), signal);
      if (signal.aborted) return;
      this.#giveOne();
    }
  }

  stop(): void {
    this.#stop.abort();
  }

  #giveOne(): void {
    const { replica, random, jobs } = this.parts;
    const loads = this.#loads();
    const own = loads.get(replica.id) ?? 0;
    // without the store no other replica could take it
    if (own - Math.min(...loads.values()) < LEAST_DIFFERENCE || replica.failure !== undefined) return;
    const movable = jobs().filter((job) => this.#isMovable(job));
    const { election } = movable[Math.floor(random() * movable.length)] ?? {};
    election?.term?.set({ movedAt: election.term.storeNow() });
    election?.stepDown('rebalance');
  }

  /** How many jobs each living replica leads, as far as this one knows. */
  #loads(): ReadonlyMap<string, number> {
    const { elections, view } = this.parts.replica;
    const loads = new Map([...view.leases.keys()].map((lease) => [replicaOf(lease), 0]));
    for (const { candidate, leader = '' } of elections) {
      const load = loads.get(leader);
      if (load !== undefined && candidate.kind === 'job') loads.set(leader, load + 1);
    }
    return loads;
  }

  #isMovable({ election, runner }: ActiveJob): boolean {
    const { dueMs, stayMs } = this.parts.times;
    const { activeTerm, known } = election;
    if (activeTerm?.isValid() !== true || runner.runs.isBusy) return false;
    const sinceMoveMs = activeTerm.storeNow() - (known.value?.movedAt ?? -Infinity);
    // a time ahead of the store's is from a clock that was set back
    const stays = sinceMoveMs >= 0 && sinceMoveMs < stayMs;
    return !stays && this.#untilDueMs(runner, activeTerm) > dueMs;
  }

  /** 0 if it is not known, as for a job that runs all the time. */
  #untilDueMs({ job: { schedule } }: ActiveJob['runner'], term: Term): number {
    if (schedule.kind === 'interval') return firstDelayMs(schedule, term.own.run, term.storeNow());
    const now = this.parts.clock.wallNow();
    return (schedule.next(now) ?? now) - now;
  }
}
