import { type Election } from '../leadership/election.js';
import { type Replica } from '../leadership/replica.js';
import { type Term } from '../leadership/term.js';
import { type RebalanceTimes } from '../options/resolve-options.js';
import { type HandOverMessage, type OfferMessage, type StoreMessage } from '../store/lock-store.js';
import { sleep } from '../base/time/sleep.js';
import { type JobRunner } from './job-runner.js';

/** A job that this replica competes for. */
interface CompetedJob {
  readonly runner: JobRunner;
  readonly election: Election;
}

interface RebalancingParts {
  readonly replica: Pick<Replica, 'context' | 'jobs' | 'list' | 'messages'>;
  readonly times: RebalanceTimes;
  /** Jobs with another one stay. */
  readonly lockExpiryMs: number;
  readonly jobs: () => readonly CompetedJob[];
}

/** A job that this replica leads and may give away. */
interface LedJob extends CompetedJob {
  readonly term: Term;
}

/** A replica that leads so many jobs fewer takes one. With a smaller difference, the job could as well move back. */
const LEAST_DIFFERENCE = 2;
/** A replica gives one of so many jobs above the average away, then offers again. */
const SHARE = 5;
/** An offer needs no more answers. */
const MOST_BIDS = 5;
/** Limits of one offer: a notification of PostgreSQL has less than 8,000 bytes. */
const MOST_NAMES = 40;
const MOST_BYTES = 6_000;
/** A job that a replica leads within so many times the wait for answers after its bid counts as moved. */
const TAKEN_WITHIN = 10;
/** A replica that gets no answers skips up to so many turns. */
const MOST_SKIPPED_TURNS = 7;

/**
 * Evens out the leaderships of all replicas, by messages alone. A replica that leads at least two jobs offers some of them. Replicas that
 * compete for these and lead at least two fewer bid for them. The leader announces to which of them it gives which job, and releases
 * the lock. See the README of `leadership/`.
 */
export class Rebalancing {
  readonly #stop = new AbortController();
  /** The last term of each job that was handed over, as far as this replica knows, and when: by the message, then by the release. Monotonic. */
  readonly #moves = new Map<string, { readonly token: number; readonly atMs: number }>();
  /** When this replica last bid for each job, monotonic. */
  readonly #bidAtMs = new Map<string, number>();
  #offers = 0;
  /** The own offer that waits for bids. */
  #open: { readonly id: string; readonly bids: OfferMessage[] } | undefined;
  /** The offer of another replica that this one answers, and how many others have. One at a time: the answer says how many jobs it leads. */
  #answered: { readonly id: string; others: number } | undefined;

  constructor(private readonly parts: RebalancingParts) {
    parts.replica.context.client.store.addListener({
      message: (message) => {
        if (!this.#stop.signal.aborted) this.#receive(message);
      },
    });
  }

  /** Offers jobs once an interval, until it is stopped. Never rejects. */
  async run(): Promise<void> {
    const { replica, times } = this.parts;
    const { clock, random } = replica.context;
    const { signal } = this.#stop;
    let [seen, toSkip, skipped] = ['', 0, 0];
    while (!signal.aborted) {
      // at different times on each replica, and somewhat sooner than an interval after the answers to the last offer
      await sleep(clock, times.intervalMs * (0.75 + 0.2 * random()), signal);
      const now = `${String(replica.list.known?.version)} ${replica.jobs.leading}`;
      // jobs or replicas have come or gone
      if (now !== seen) toSkip = skipped = 0;
      seen = now;
      if (skipped < toSkip) skipped += 1;
      else {
        const isAnswered = await this.#offer();
        toSkip = isAnswered ? 0 : Math.min(2 * toSkip + 1, MOST_SKIPPED_TURNS);
        skipped = 0;
      }
    }
  }

  stop(): void {
    this.#stop.abort();
  }

  #receive(message: StoreMessage): void {
    if (message.kind === 'offer') void this.#bid(message);
    if (message.kind === 'hand-over') this.#handedOver(message);
    if (message.kind === 'released') {
      for (const { name, token } of message.locks) if (this.#moves.get(name)?.token === token) this.#moved(name, token);
    }
    if (message.kind !== 'bid') return;
    if (message.id === this.#open?.id) this.#open.bids.push(message);
    if (message.id === this.#answered?.id) this.#answered.others += 1;
  }

  /** Resolves to whether a replica answered, or there was nothing to offer. */
  async #offer(): Promise<boolean> {
    const { replica, times } = this.parts;
    const { clock, client, id: replicaId } = replica.context;
    if (replica.jobs.leading < LEAST_DIFFERENCE || replica.list.livingCount() < 2) return true;
    const names = this.#names();
    if (names.length === 0 || !replica.messages.isSubscribed) return true;
    this.#offers += 1;
    const open = { id: `${replicaId}#${this.#offers}`, bids: [] };
    this.#open = open;
    const offer: OfferMessage = { kind: 'offer', id: open.id, replicaId, leading: replica.jobs.leading, names };
    client.store.publish(offer).catch(() => undefined);
    await sleep(clock, times.answersMs, this.#stop.signal);
    this.#open = undefined;
    if (!this.#stop.signal.aborted) this.#give(open.bids);
    return open.bids.length > 0;
  }

  /** The jobs to offer: others each time. */
  #names(): string[] {
    const all = this.#movable().map(({ runner }) => runner.job.name);
    const first = Math.floor(this.parts.replica.context.random() * all.length);
    let bytes = 0;
    return [...all.slice(first), ...all.slice(0, first)]
      .slice(0, MOST_NAMES)
      .filter((name) => (bytes += Buffer.byteLength(name) + 3) <= MOST_BYTES);
  }

  #movable(): LedJob[] {
    const { jobs, lockExpiryMs, times } = this.parts;
    return jobs().flatMap(({ runner, election }) => {
      const { name, lockExpiryMs: ownMs } = runner.job;
      const { term } = election;
      if (term === undefined || ownMs !== lockExpiryMs || !this.#isIdle({ runner, term })) return [];
      // the message of the hand-over may be lost: then the term began soon after a bid
      const sinceBidMs = term.startedAt.now - (this.#bidAtMs.get(name) ?? -Infinity);
      const isTaken = sinceBidMs >= 0 && sinceBidMs < TAKEN_WITHIN * times.answersMs;
      return this.#stays(name) || (isTaken && this.#now < term.startedAt.now + times.stayMs)
        ? []
        : [{ runner, election, term }];
    });
  }

  /** Whether a job has moved a short time ago. */
  #stays(name: string): boolean {
    return this.#now < (this.#moves.get(name)?.atMs ?? -Infinity) + this.parts.times.stayMs;
  }

  #moved(name: string, token: number): void {
    this.#moves.set(name, { token, atMs: this.#now });
  }

  get #now(): number {
    return this.parts.replica.context.clock.now();
  }

  /** Whether nothing of the job happens soon. */
  #isIdle({ runner, term }: Omit<LedJob, 'election'>): boolean {
    return term.isValid() && runner.untilDueMs(term) > this.parts.times.dueMs;
  }

  /** Gives away a part of what this replica leads above the average. Each job goes to the bidder that leads fewest. */
  #give(bids: readonly OfferMessage[]): void {
    let { leading } = this.parts.replica.jobs;
    const bidders = bids.map((bid) => ({ ...bid, names: new Set(bid.names), taken: [] as LedJob[] }));
    const average = Math.floor(bids.reduce((sum, bid) => sum + bid.leading, leading) / (bids.length + 1));
    let left = Math.ceil((leading - average) / SHARE);
    for (const job of bids.length === 0 ? [] : this.#movable()) {
      bidders.sort((a, b) => a.leading - b.leading);
      const taker = bidders.find(({ names }) => names.has(job.runner.job.name));
      if (left === 0 || taker === undefined || leading - taker.leading < LEAST_DIFFERENCE) continue;
      taker.taken.push(job);
      taker.leading += 1;
      leading -= 1;
      left -= 1;
    }
    for (const { replicaId, taken } of bidders) if (taken.length > 0) void this.#handOver(replicaId, taken);
  }

  /** Names the taker to all replicas, then releases the locks. */
  async #handOver(replicaId: string, given: readonly LedJob[]): Promise<void> {
    const terms = given.map(({ runner, term }) => ({ name: runner.job.name, token: term.fencingToken }));
    try {
      await this.parts.replica.context.client.store.publish({ kind: 'hand-over', replicaId, terms });
    } catch {
      return;
    }
    for (const job of given) {
      // a run may have begun meanwhile
      if (this.#stop.signal.aborted || job.election.term !== job.term || !this.#isIdle(job)) continue;
      this.#moved(job.runner.job.name, job.term.fencingToken);
      job.election.stepDown('rebalance');
    }
  }

  /** Answers an offer of which this replica would take a job. Those that lead fewest answer first, and the others may be too many. */
  async #bid(offer: OfferMessage): Promise<void> {
    const { replica, times } = this.parts;
    const { clock, client, random, id: replicaId } = replica.context;
    const isBusy = this.#answered !== undefined || offer.replicaId === replicaId;
    if (isBusy || this.#bidFor(offer).length === 0) return;
    const answered = { id: offer.id, others: 0 };
    this.#answered = answered;
    const load = replica.jobs.leading / offer.leading;
    await sleep(clock, times.answersMs * (0.4 * load + 0.2 * random()), this.#stop.signal);
    const names = this.#bidFor(offer);
    if (names.length > 0 && answered.others < MOST_BIDS && !this.#stop.signal.aborted) {
      const bid: OfferMessage = { kind: 'bid', id: offer.id, replicaId, leading: replica.jobs.leading, names };
      for (const name of names) this.#bidAtMs.set(name, clock.now());
      client.store.publish(bid).catch(() => undefined);
      // until it leads what it was given
      await sleep(clock, 1.5 * times.answersMs, this.#stop.signal);
    }
    this.#answered = undefined;
  }

  #bidFor({ replicaId, leading, names }: OfferMessage): string[] {
    const { jobs, replica } = this.parts;
    if (leading - replica.jobs.leading < LEAST_DIFFERENCE) return [];
    // its leader may have started since
    const wanted = new Set(names.filter((name) => !this.#stays(name)));
    return jobs()
      .filter(({ runner, election }) => wanted.has(runner.job.name) && election.follower.canSucceed(replicaId))
      .map(({ runner }) => runner.job.name);
  }

  /** Every replica keeps when a job moved: one of them may be the next leader. */
  #handedOver({ replicaId, terms }: HandOverMessage): void {
    const { jobs, replica } = this.parts;
    const tokens = new Map(terms.map(({ name, token }) => [name, token]));
    for (const { runner, election } of jobs()) {
      const token = tokens.get(runner.job.name);
      if (token === undefined) continue;
      this.#moved(runner.job.name, token);
      election.follower.handedOver(token, replicaId === replica.context.id);
    }
  }
}
