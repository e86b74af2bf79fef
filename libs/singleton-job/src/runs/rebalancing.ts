import { type Timer } from '../base/time/clock.js';
import { type JobRecord, replicaOf } from '../leadership/record.js';
import { type Replica } from '../leadership/replica.js';
import { nextDue } from './due.js';
import { type JobRunner } from './job-runner.js';

/** A replica gives away one job in this time, or in somewhat more. Without messages, it has seen each record by then. */
const ROUND_MS = 11_000;
/** A job that is due sooner is not given away. */
const DUE_MS = 5_000;
/** A job that has moved stays for this long. */
const STAY_MS = 600_000;

/** With a smaller difference, a job could as well move back. */
const LEAST_DIFFERENCE = 2;

/**
 * Evens out how many jobs the replicas lead. Each replica sees every holder and every living lease. One that leads at least two more than another
 * gives that one an idle job each round. The record names the taker, and the others leave it the job for a moment.
 */
export class Rebalancing {
  #timer: Timer | undefined;

  constructor(
    private readonly replica: Replica,
    private readonly runners: () => readonly JobRunner[],
  ) {}

  /** Gives away one job each round, until it is stopped. */
  start(): void {
    // at different times on each replica: it sees what the others have given away
    this.#timer = this.replica.clock.setTimer(ROUND_MS * (1 + 0.2 * this.replica.random()), () => {
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
    const loads = this.#loads();
    const [to, least] = [...loads].reduce((one, other) => (other[1] < one[1] ? other : one), [replica.id, Infinity]);
    if ((loads.get(replica.id) ?? 0) - least < LEAST_DIFFERENCE) return;
    const movable = this.runners().filter(isMovable);
    const { election } = movable[Math.floor(replica.random() * movable.length)] ?? {};
    if (election?.term === undefined) return;
    election.term.set({ moved: { at: election.term.storeNow(), to } });
    election.stepDown('rebalance');
  }

  /** How many jobs each living replica leads, as far as this one knows. Without others that do not have what was given to them: they do not want it. */
  #loads(): ReadonlyMap<string, number> {
    const { replica } = this;
    const loads = new Map([...replica.view.leases.keys()].map((lease) => [replicaOf(lease), 0]));
    for (const { candidate, leader, lastSeen } of replica.elections) {
      if (candidate.kind !== 'job') continue;
      const { to = replica.id } = lastMove(lastSeen.value, replica.view.storeNow()) ?? {};
      if (to !== leader && to !== replica.id) loads.delete(to);
      const load = leader === undefined ? undefined : loads.get(leader);
      if (leader !== undefined && load !== undefined) loads.set(leader, load + 1);
    }
    return loads;
  }
}

function isMovable({ job, election, runs }: JobRunner): boolean {
  const { activeTerm: term, lastSeen } = election ?? {};
  if (term?.isValid() !== true || runs.isBusy) return false;
  const now = term.storeNow();
  // not known for a job that runs all the time
  const due = nextDue(job.schedule, term.own.run, now) ?? now;
  return lastMove(lastSeen?.value, now) === undefined && due - now > DUE_MS;
}

/** When and to whom a job was given, while it stays there. A time ahead of the store's is from a clock that was set back. */
function lastMove(record: JobRecord | undefined, now: number): JobRecord['moved'] {
  const { moved } = record ?? {};
  return moved !== undefined && moved.at <= now && now < moved.at + STAY_MS ? moved : undefined;
}
