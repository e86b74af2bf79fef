import { type Election } from '../leadership/election.js';
import { type Replica } from '../leadership/replica.js';
import { type Term } from '../leadership/term.js';
import {
  holderName,
  type JobCommandReply,
  type JobCommandRequest,
  lockLifeMs,
  type LockMessage,
  type RenewResult,
} from '../store/lock-store.js';
import { instant } from '../base/time/clock.js';
import { sleep } from '../base/time/sleep.js';
import { unlessAborted } from '../base/time/unless-aborted.js';
import { type JobPool, type ActiveJob, type JobEntry } from '../runs/job-pool.js';

/** What a request wants of the leader, or of every replica. */
export type Action = JobCommandRequest['action'];
/** What the replica that acts on a request replies. */
type Outcome = Pick<JobCommandReply, 'outcome' | 'run'>;
export type Reply = Outcome & Pick<JobCommandReply, 'replicaId'>;

/** Each call resolves or rejects within this time. No replica acts on its request later. */
const TIMEOUT_MS = 2_000;
/** How often a call checks whether this replica receives messages, right after the connections were opened. */
const POLL_MS = 50;
const DONE: Outcome = { outcome: 'done', run: null };

/** A call that is under way. */
export interface Call {
  /** Aborts when its time is over, and when the connections are about to close. */
  readonly signal: AbortSignal;
  /** When its time is over, monotonic. */
  readonly endMs: number;
}

/** A request of this replica that waits for its reply. */
interface PendingRequest {
  readonly request: JobCommandRequest;
  readonly resolve: (reply: Reply) => void;
}

/** Sends the requests of this replica, matches the replies to them, and carries out the requests of other replicas. */
export class CommandChannel {
  readonly #pending = new Map<string, PendingRequest>();
  /** The requests received, because a message may arrive twice, and until when they are kept, monotonic. */
  readonly #received = new Map<string, number>();
  #requests = 0;

  constructor(
    private readonly replica: Replica,
    private readonly pool: JobPool,
  ) {
    replica.context.client.store.addListener({
      message: (message) => {
        if (message.kind === 'request') void this.#receive(message);
        else if (message.kind === 'reply') this.#pending.get(message.id)?.resolve(message);
        else if (message.kind === 'granted') this.#granted(message.locks);
      },
    });
  }

  /**
   * Reads the holder of the lock, the pause of the job and the time of the store. It sends a renewal for a holder that never has the lock,
   * which changes nothing. On a cluster the time is of the node on which the leader renews. Undefined: there was no answer.
   */
  async readLock({ job: { name, lockExpiryMs } }: JobEntry, { signal }: Call): Promise<RenewResult | undefined> {
    const { replica } = this;
    replica.open();
    const request = { name, holder: replica.acquirer.nextHolder(), lifeMs: lockLifeMs(lockExpiryMs), update: {} };
    try {
      return (await unlessAborted(replica.context.client.store.renew(request), signal))?.value;
    } catch {
      return undefined;
    }
  }

  /** Resolves when this replica receives messages, or when the call has ended. */
  async untilSubscribed({ signal }: Call): Promise<void> {
    while (!this.replica.messages.isSubscribed && !signal.aborted)
      await sleep(this.replica.context.clock, POLL_MS, signal);
  }

  /** Publishes a request. Resolves to its reply, or to undefined if the call ended first. */
  async send(request: JobCommandRequest, { signal }: Call): Promise<Reply | undefined> {
    const reply = new Promise<Reply>((resolve) => {
      this.#pending.set(request.id, { request, resolve });
    });
    this.publish(request);
    const answer = await unlessAborted(reply, signal);
    this.#pending.delete(request.id);
    return answer?.value;
  }

  /** A request that expires no later than the call ends. `storeTime` may have been read right before the answer arrived. */
  request(action: Action, { job: { name } }: JobEntry, storeTime: number, { endMs }: Call): JobCommandRequest {
    this.#requests += 1;
    const id = `${this.replica.context.id}#${this.#requests}`;
    const expiresAt = Math.floor(storeTime + endMs - this.replica.context.clock.now());
    return { kind: 'request', id, action, name, expiresAt };
  }

  /** An error is ignored: the request gets no reply, as if its message was lost. */
  publish(message: JobCommandRequest | JobCommandReply): void {
    this.replica.context.client.store.publish(message).catch(() => undefined);
  }

  withTimeout<T>(work: (call: Call) => Promise<T>): Promise<T> {
    const { clock, client } = this.replica.context;
    const endMs = clock.now() + TIMEOUT_MS;
    return client.withTimeout(TIMEOUT_MS, (signal) => work({ signal, endMs }));
  }

  async #receive(request: JobCommandRequest): Promise<void> {
    const entry = this.pool.find(request.name);
    if (entry?.active === undefined || this.#isDuplicate(request)) return;
    const outcome = await this.#carryOut(request, entry, entry.active);
    if (outcome === undefined) return;
    this.publish({ kind: 'reply', id: request.id, replicaId: this.replica.context.id, ...outcome });
  }

  /** Undefined: this replica does not act on the request. */
  async #carryOut(
    { action, expiresAt }: JobCommandRequest,
    entry: JobEntry,
    { election, runner }: ActiveJob,
  ): Promise<Outcome | undefined> {
    switch (action) {
      case 'trigger': {
        const term = await this.#confirmedTerm(election, expiresAt);
        if (term === undefined) return isGivingBack(election) ? { ...DONE, outcome: 'lease-unconfirmed' } : undefined;
        const triggered = await runner.trigger(term);
        if (typeof triggered === 'string') return { outcome: triggered, run: null };
        const { fencingToken, startedAt } = triggered;
        return { outcome: 'done', run: { fencingToken, startedAt: startedAt.getTime() } };
      }
      case 'step-down': {
        const term = await this.#confirmedTerm(election, expiresAt);
        if (term === undefined) return isGivingBack(election) ? DONE : undefined;
        election.stepDown();
        return DONE;
      }
      case 'pause':
        await this.#readPause(entry, election);
        // its own renewal may have read the pause before the request arrived
        return election.ledUntilPause ? DONE : undefined;
      case 'resume':
        await this.#readPause(entry, election);
        return election.term === undefined ? undefined : DONE;
    }
  }

  /** Reads in the store whether the job is paused. A message may be late, so it says nothing about that by itself. */
  async #readPause(entry: JobEntry, election: Election): Promise<void> {
    if (election.follower.pauseChanged()) return;
    const lock = await this.withTimeout((call) => this.readLock(entry, call));
    if (lock !== undefined) election.learnPause(lock.pausedAt);
  }

  /**
   * The term of this replica, if a new answer of the store shows that it still leads and that the request has not expired. So a replica
   * that was suspended after the request was sent does not act on it.
   */
  async #confirmedTerm(election: Election, expiresAt: number): Promise<Term | undefined> {
    const { clock } = this.replica.context;
    const { term } = election;
    const sent = instant(clock);
    await term?.renewAfresh();
    await term?.untilValid();
    // the monotonic clock stops while a host is suspended
    const suspendedMs = Math.max(clock.wallNow() - sent.wall - (clock.now() - sent.now), 0);
    if (term === undefined || term !== election.term) return undefined;
    return term.storeClock.nowAtMost() + suspendedMs > expiresAt ? undefined : term;
  }

  #isDuplicate({ id }: JobCommandRequest): boolean {
    const now = this.replica.context.clock.now();
    for (const [received, until] of this.#received) if (until < now) this.#received.delete(received);
    const isDuplicate = this.#received.has(id);
    this.#received.set(id, now + TIMEOUT_MS);
    return isDuplicate;
  }

  /** A job has a new leader: this is the reply to a request to resume it. */
  #granted(locks: LockMessage['locks']): void {
    for (const { request, resolve } of this.#pending.values()) {
      const holder = locks.find(({ name }) => name === request.name)?.holder;
      if (request.action === 'resume' && holder !== undefined) resolve({ ...DONE, replicaId: holderName(holder) });
    }
  }
}

/** It keeps the lock only until its run in flight has ended. */
function isGivingBack({ hasLock, term }: Election): boolean {
  return hasLock && term === undefined;
}
