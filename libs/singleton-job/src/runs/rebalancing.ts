import { type Timer } from '../base/time/clock.js';
import { type Election } from '../leadership/election.js';
import { type Replica } from '../leadership/replica.js';
import { nextDue } from './due.js';
import { type JobRunner } from './job-runner.js';

/**
 * A replica releases one job in this time, or in somewhat more. Without hints, it has seen each record by then.
 */
const ROUND_MS = 11_000;
/** A job that is due sooner is not released. */
const DUE_MS = 5_000;
/** A job that has moved stays for this long. */
const STAY_MS = 600_000;

/** With a smaller difference, a job could as well move back. */
const MIN_DIFFERENCE = 2;

/**
 * Evens out how many jobs the replicas lead. Each replica sees every holder and every living lease. One that leads at
 * least two more than another gives that one an idle job each round. The record names the taker, and the others leave
 * it the job for a moment.
 */
export class Rebalancing {
  #timer: Timer | undefined;
  /** The job that was released last, and to whom. */
  #lastHandover: { readonly election: Election; readonly to: string } | undefined;
  /** Replicas that did not take a job, because they do not want it, and until when none is given to them. Monotonic. */
  readonly #excludedUntil = new Map<string, number>();

  constructor(
    private readonly replica: Replica,
    private readonly runners: () => readonly JobRunner[],
  ) {}

  /** Releases one job each round, until it is stopped. */
  start(): void {
    // at different times on each replica: it sees what the others have released
    this.#timer = this.replica.clock.setTimer(ROUND_MS * (1 + 0.2 * this.replica.context.random()), () => {
      this.start();
      this.#giveOne();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #giveOne(): void {
    const { replica } = this;
    // without the store no other replica could take it
    if (replica.failure !== undefined) return;
    const { election: previous, to: taker = '' } = this.#lastHandover ?? {};
    // a pause meanwhile says nothing
    if (previous?.leader !== undefined && previous.leader !== taker)
      this.#excludedUntil.set(taker, replica.clock.now() + STAY_MS);
    this.#lastHandover = undefined;
    const loads = this.#loads();
    const [to, least] = [...loads].reduce((one, other) => (other[1] < one[1] ? other : one), [replica.id, Infinity]);
    if ((loads.get(replica.id) ?? 0) - least < MIN_DIFFERENCE) return;
    const movable = this.runners().filter(isMovable);
    const { election } = movable[Math.floor(replica.context.random() * movable.length)] ?? {};
    if (election?.term === undefined) return;
    election.term.set({ handover: { at: election.term.storeNow(), to } });
    election.stepDown('rebalance');
    this.#lastHandover = { election, to };
  }

  /** How many jobs each living replica leads, without those that are excluded. */
  #loads(): ReadonlyMap<string, number> {
    const loads = this.replica.countLoads();
    for (const [id, untilMs] of this.#excludedUntil) {
      if (this.replica.clock.now() < untilMs) loads.delete(id);
      else this.#excludedUntil.delete(id);
    }
    return loads;
  }
}

function isMovable({ job, election, runs }: JobRunner): boolean {
  const { activeTerm: term, observed } = election ?? {};
  if (term?.isValid() !== true || runs.isBusy) return false;
  const now = term.storeNow();
  const sinceMoveMs = now - (observed?.last.value?.handover?.at ?? -Infinity);
  // a time ahead of the store's is from a clock that was set back
  const stays = sinceMoveMs >= 0 && sinceMoveMs < STAY_MS;
  // an interval or a call that runs all the time is due now, and what has no more ticks never
  const isAlwaysDue = job.schedule.kind === 'while-leader' || job.schedule.kind === 'interval';
  const due = nextDue(job.schedule, term.fields.run, now) ?? (isAlwaysDue ? now : Infinity);
  return !stays && due - now > DUE_MS;
}
