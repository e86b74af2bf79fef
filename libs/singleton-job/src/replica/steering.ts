import { asLockStoreError, LockStoreError } from '../errors/index.js';
import { type Election, type Replica, type Term } from '../leadership/index.js';
import {
  holderName,
  type LockMessage,
  replicaOf,
  type SetPausedResult,
  type SteeringReply,
  type SteeringRequest,
} from '../store/index.js';
import { instant, sleep, unlessAborted } from '../time/index.js';
import { type JobSupervisor, type JobWorkers, type ManagedJob } from './job-supervisor.js';
import { type PauseResult, type ResumeResult, type StepDownResult, type TriggerResult } from './job-status.js';
import { leaderOf } from './leader-of.js';

type Action = SteeringRequest['action'];
/** What the replica that acts on a request replies. */
type Outcome = Pick<SteeringReply, 'outcome' | 'run'>;
type Reply = Outcome & Pick<SteeringReply, 'replicaId'>;

/** So long a caller waits for the replica that acts. No replica acts on a request later than that. */
const ANSWER_MS = 2_000;
/** Between two looks whether messages are received, right after the connections were opened. */
const LOOK_MS = 50;
const DONE: Outcome = { outcome: 'done', run: null };

/** A request of this replica that waits for its reply. */
interface Awaited {
  readonly request: SteeringRequest;
  readonly answer: (reply: Reply) => void;
}

/**
 * Sends requests about a job to the replica that leads it, and carries out those of other replicas. A pause is kept in the store: its
 * message only makes every replica read it there.
 */
export class Steering {
  readonly #awaited = new Map<string, Awaited>();
  /** Requests that were read, and when they expire: a message may arrive twice. */
  readonly #read = new Map<string, number>();
  #requests = 0;

  constructor(
    private readonly replica: Replica,
    private readonly supervisor: JobSupervisor,
  ) {
    replica.client.store.listen({
      message: (message) => {
        if (message.kind === 'request') void this.#receive(message);
        else if (message.kind === 'reply') this.#awaited.get(message.id)?.answer(message);
        else if (message.kind === 'granted') this.#granted(message.locks);
      },
    });
  }

  get replicaId(): string {
    return this.replica.id;
  }

  /** Runs the job now if this replica leads it. */
  async triggerHere({ workers }: ManagedJob): Promise<TriggerResult> {
    const { replica } = this;
    const led = workers?.election.term;
    if (led !== undefined) await this.#limited((signal) => unlessAborted(led.untilTrusted(), signal));
    const term = workers?.election.term;
    const triggered = term === undefined ? 'not-leader' : (workers?.runner.trigger(term) ?? 'not-leader');
    if (typeof triggered === 'string') {
      // a lock that is about to be released has no leader to name
      const leader = term === undefined ? workers?.election.rival : workers?.election.leader;
      return { started: false, reason: triggered, leader: leaderOf(leader), by: replica.id };
    }
    const { fencingToken, startedAt } = triggered;
    return { started: true, fencingToken, startedAt: startedAt.toISOString(), by: replica.id };
  }

  /** Runs the job now on the replica that leads it. */
  async trigger(managed: ManagedJob): Promise<TriggerResult> {
    const here = await this.triggerHere(managed);
    if (here.started || here.reason !== 'not-leader') return here;
    const { election } = managed.workers ?? {};
    const { leader } = here;
    if (election?.pausedAt !== undefined) return { ...here, reason: 'paused' };
    const reply = await this.#ask('trigger', managed.job.name);
    if (reply === undefined) return { started: false, reason: 'no-answer', leader, by: null };
    const { replicaId: by, outcome, run } = reply;
    if (run !== null) return { started: true, ...run, startedAt: new Date(run.startedAt).toISOString(), by };
    return { started: false, reason: outcome === 'done' ? 'no-answer' : outcome, leader: by, by };
  }

  /** Has the replica that leads the job give it back. Resolves when it has begun to. */
  async stepDown({ job, workers }: ManagedJob): Promise<StepDownResult> {
    if (workers?.election.term !== undefined) {
      void workers.election.stepDown();
      return { steppedDown: true, by: this.replica.id };
    }
    const reply = await this.#ask('step-down', job.name);
    return reply === undefined ? { steppedDown: false, by: null } : { steppedDown: true, by: reply.replicaId };
  }

  /** @throws LockStoreError when the store has not answered */
  async pause(managed: ManagedJob): Promise<PauseResult> {
    const { holder, storeTime } = await this.#setPaused(managed, true);
    const request = this.#request('pause', managed.job.name, storeTime + ANSWER_MS);
    const isOwn = holder !== undefined && replicaOf(holder) === this.replica.id;
    if (holder !== undefined && !isOwn) return { by: await this.#answerer(request) };
    this.#publish(request);
    return { by: isOwn ? this.replica.id : null };
  }

  /** @throws LockStoreError when the store has not answered */
  async resume(managed: ManagedJob): Promise<ResumeResult> {
    const { storeTime } = await this.#setPaused(managed, false);
    return { by: await this.#answerer(this.#request('resume', managed.job.name, storeTime + ANSWER_MS)) };
  }

  async #setPaused({ job: { name }, workers }: ManagedJob, isPaused: boolean): Promise<SetPausedResult> {
    const { replica } = this;
    replica.open();
    try {
      const sending = replica.client.store.setPaused({ name, isPaused });
      const answer = await this.#limited((signal) => unlessAborted(sending, signal));
      if (answer === undefined) throw new LockStoreError('STORE_UNREACHABLE', 'no answer from the store within 2 s');
      workers?.election.learnPause(answer.value.pausedAt);
      return answer.value;
    } catch (thrown: unknown) {
      const { code, message, wasSent } = asLockStoreError(thrown);
      const done = isPaused ? 'paused' : 'resumed';
      const result = wasSent ? `it is not known whether the job was ${done}` : `the job was not ${done}`;
      throw new LockStoreError(code, `${name}: ${result} (${message}). Try again.`, { cause: thrown, wasSent });
    }
  }

  /**
   * Sends a request to the replica that leads. Resolves to its reply; undefined if none came in time. Never rejects. Without messages
   * nothing is sent, as its outcome would not be known.
   */
  async #ask(action: Action, name: string): Promise<Reply | undefined> {
    const { replica } = this;
    const { clock } = replica;
    replica.open();
    const sentMs = clock.now();
    return this.#limited(async (signal) => {
      try {
        // a replica that competes for nothing knows nothing of the clock of the store
        const heartbeat = replica.client.store.heartbeat({ sessions: [], knownList: undefined });
        const answer = await unlessAborted(heartbeat, signal);
        // no later than the caller gives up: the store may have read its clock right before it answered
        const expiresAt = (answer?.value.storeTime ?? 0) + ANSWER_MS - (clock.now() - sentMs);
        while (!replica.isSubscribed && !signal.aborted) await sleep(clock, LOOK_MS, signal);
        return signal.aborted ? undefined : await this.#reply(this.#request(action, name, expiresAt), signal);
      } catch {
        return undefined;
      }
    });
  }

  /** The replica that answers a request; null if none did in time. */
  async #answerer(request: SteeringRequest): Promise<string | null> {
    return (await this.#limited((signal) => this.#reply(request, signal)))?.replicaId ?? null;
  }

  /** Publishes a request. Resolves to its reply; undefined if `signal` aborted before. */
  async #reply(request: SteeringRequest, signal: AbortSignal): Promise<Reply | undefined> {
    const reply = new Promise<Reply>((resolve) => {
      this.#awaited.set(request.id, { request, answer: resolve });
    });
    this.#publish(request);
    const answer = await unlessAborted(reply, signal);
    this.#awaited.delete(request.id);
    return answer?.value;
  }

  #request(action: Action, name: string, expiresAt: number): SteeringRequest {
    this.#requests += 1;
    const id = `${this.replica.id}#${this.#requests}`;
    return { kind: 'request', id, action, name, expiresAt: Math.floor(expiresAt) };
  }

  /** A message that is lost gets no reply. */
  #publish(message: SteeringRequest | SteeringReply): void {
    this.replica.client.store.publish(message).catch(() => undefined);
  }

  /** `work` has a signal that aborts after two seconds, and when the connections are about to close. */
  async #limited<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, client } = this.replica;
    const ending = new AbortController();
    const end = (): void => {
      ending.abort();
    };
    const timer = clock.setTimer(ANSWER_MS, end);
    client.closing.addEventListener('abort', end);
    if (client.closing.aborted) end();
    try {
      return await work(ending.signal);
    } finally {
      timer.cancel();
      client.closing.removeEventListener('abort', end);
    }
  }

  async #receive(request: SteeringRequest): Promise<void> {
    const workers = this.supervisor.find(request.name)?.workers;
    if (workers === undefined || this.#wasRead(request)) return;
    const outcome = await this.#carryOut(request, workers);
    if (outcome === undefined) return;
    this.#publish({ kind: 'reply', id: request.id, replicaId: this.replica.id, ...outcome });
  }

  /** Undefined: this replica does not act on the request. */
  async #carryOut({ action, expiresAt }: SteeringRequest, workers: JobWorkers): Promise<Outcome | undefined> {
    const { election, runner } = workers;
    const { hasLock } = election;
    switch (action) {
      case 'trigger': {
        const term = await this.#confirmedTerm(election, expiresAt);
        if (term === undefined && hasLock && election.pausedAt !== undefined) return { ...DONE, outcome: 'paused' };
        if (term === undefined) return isGivingBack(election) ? { ...DONE, outcome: 'lease-unconfirmed' } : undefined;
        const triggered = runner.trigger(term);
        if (typeof triggered === 'string') return { outcome: triggered, run: null };
        const { fencingToken, startedAt } = triggered;
        return { outcome: 'done', run: { fencingToken, startedAt: startedAt.getTime() } };
      }
      case 'step-down': {
        const term = await this.#confirmedTerm(election, expiresAt);
        if (term === undefined) return isGivingBack(election) ? DONE : undefined;
        void election.stepDown();
        return DONE;
      }
      case 'pause':
        await election.pauseChanged();
        return hasLock && election.pausedAt !== undefined ? DONE : undefined;
      case 'resume':
        await election.pauseChanged();
        return election.term === undefined ? undefined : DONE;
    }
  }

  /**
   * The term of this replica, if it still leads and the request has not expired by an answer of the store right now. So a replica that
   * stood still since it was sent the request does not act on it.
   */
  async #confirmedTerm(election: Election, expiresAt: number): Promise<Term | undefined> {
    const { clock } = this.replica;
    const { term } = election;
    const sent = instant(clock);
    await term?.renewAfresh();
    await term?.untilTrusted();
    // the monotonic clock stands still while a host is suspended
    const suspendedMs = Math.max(clock.wallNow() - sent.wall - (clock.now() - sent.now), 0);
    if (term === undefined || term !== election.term) return undefined;
    return term.storeNowAtMost() + suspendedMs > expiresAt ? undefined : term;
  }

  #wasRead({ id, expiresAt }: SteeringRequest): boolean {
    const now = this.replica.sessions.storeNow();
    for (const [read, until] of this.#read) if (until < now) this.#read.delete(read);
    const wasRead = this.#read.has(id);
    this.#read.set(id, expiresAt);
    return wasRead;
  }

  /** A job that was resumed has a new leader. */
  #granted(locks: LockMessage['locks']): void {
    for (const { request, answer } of this.#awaited.values()) {
      const holder = locks.find(({ name }) => name === request.name)?.holder;
      if (request.action === 'resume' && holder !== undefined) answer({ ...DONE, replicaId: holderName(holder) });
    }
  }
}

/** It has the lock only until its run in flight has settled. */
function isGivingBack({ hasLock, term }: Election): boolean {
  return hasLock && term === undefined;
}
