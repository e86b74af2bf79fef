import { asLockStoreError, LockStoreError } from '../base/errors/lock-store.error.js';
import { type Replica } from '../leadership/replica.js';
import { type RenewResult, replicaOf, type SetPausedResult } from '../store/lock-store.js';
import { unlessAborted } from '../base/time/unless-aborted.js';
import { type Action, type Call, type CommandChannel, type Reply } from './command-channel.js';
import { type PauseResult, type ResumeResult, type StepDownResult, type TriggerResult } from './job-status.js';
import { type JobEntry } from '../runs/job-pool.js';
import { leaderOf } from './leader-of.js';

/** Sends each command to the replica that leads the job. The store keeps a pause. The message about it only makes every replica read it there. */
export class JobCommands {
  constructor(
    private readonly replica: Replica,
    private readonly channel: CommandChannel,
  ) {}

  /** Runs the job now on the replica that leads it. */
  trigger(entry: JobEntry): Promise<TriggerResult> {
    return this.channel.withTimeout(async (call) => {
      const here = await this.#triggerHere(entry, call);
      if (here !== undefined) return here;
      const lock = await this.channel.readLock(entry, call);
      const known = entry.active?.election.follower.otherHolder;
      const leader = leaderOf(lock === undefined ? known : lock.holder);
      if (lock === undefined) return { started: false, reason: this.#whyUnread, leader, by: null };
      if (lock.pausedAt !== undefined) return { started: false, reason: 'paused', leader, by: this.replica.context.id };
      const reply = await this.#sendToLeader('trigger', entry, lock, call);
      if (reply === undefined) return { started: false, reason: 'no-answer', leader, by: null };
      const { replicaId: by, outcome, run } = reply;
      if (run !== null) return { started: true, ...run, startedAt: new Date(run.startedAt).toISOString(), by };
      return { started: false, reason: outcome === 'done' ? 'no-answer' : outcome, leader: by, by };
    });
  }

  /** Makes the leader of the job step down. Resolves when the leader has begun to. */
  async stepDown(entry: JobEntry): Promise<StepDownResult> {
    const { active } = entry;
    if (active?.election.term !== undefined) {
      active.election.stepDown();
      return { steppedDown: true, by: this.replica.context.id };
    }
    return this.channel.withTimeout(async (call) => {
      const lock = await this.channel.readLock(entry, call);
      if (lock === undefined) return { steppedDown: false, reason: this.#whyUnread, by: null };
      const reply = await this.#sendToLeader('step-down', entry, lock, call);
      if (reply === undefined) return { steppedDown: false, reason: 'no-answer', by: null };
      return { steppedDown: true, by: reply.replicaId };
    });
  }

  /** Why the store did not say who has the lock. */
  get #whyUnread(): 'stopping' | 'unreachable' {
    return this.replica.context.client.closing.aborted ? 'stopping' : 'unreachable';
  }

  /** @throws LockStoreError when the store has not answered */
  pause(entry: JobEntry): Promise<PauseResult> {
    return this.channel.withTimeout(async (call) => {
      const { holder, storeTime } = await this.#setPaused(entry, true, call);
      const request = this.channel.request('pause', entry, storeTime, call);
      const isOwn = holder !== undefined && replicaOf(holder) === this.replica.context.id;
      if (holder !== undefined && !isOwn) {
        // the leader replies only once
        await this.channel.untilSubscribed(call);
        return { by: (await this.channel.send(request, call))?.replicaId ?? null };
      }
      this.channel.publish(request);
      return { by: isOwn ? this.replica.context.id : null };
    });
  }

  /** @throws LockStoreError when the store has not answered */
  resume(entry: JobEntry): Promise<ResumeResult> {
    return this.channel.withTimeout(async (call) => {
      const { storeTime } = await this.#setPaused(entry, false, call);
      if (!this.replica.messages.isSubscribed) {
        // the others need not wait; this replica may be the only one, and receives its own request later
        this.channel.publish(this.channel.request('resume', entry, storeTime, call));
        await this.channel.untilSubscribed(call);
      }
      const reply = await this.channel.send(this.channel.request('resume', entry, storeTime, call), call);
      return { by: reply?.replicaId ?? null };
    });
  }

  /** Undefined: this replica does not lead the job, or is about to release its lock. */
  async #triggerHere({ active }: JobEntry, { signal }: Call): Promise<TriggerResult | undefined> {
    const led = active?.election.term;
    if (led !== undefined) await unlessAborted(led.untilValid(), signal);
    const term = active?.election.term;
    if (active === undefined || term === undefined) return undefined;
    const triggered = await active.runner.trigger(term);
    const by = this.replica.context.id;
    if (typeof triggered === 'string')
      return { started: false, reason: triggered, leader: leaderOf(active.election.leader), by };
    return { started: true, fencingToken: triggered.fencingToken, startedAt: triggered.startedAt.toISOString(), by };
  }

  async #setPaused({ job: { name }, active }: JobEntry, isPaused: boolean, { signal }: Call): Promise<SetPausedResult> {
    const { client } = this.replica.context;
    this.replica.open();
    const isSent = !signal.aborted;
    try {
      const answer = isSent ? await unlessAborted(client.store.setPaused({ name, isPaused }), signal) : undefined;
      if (answer === undefined) {
        const why = client.closing.aborted ? 'the application is stopping' : 'no answer from the store within 2 s';
        throw new LockStoreError('STORE_UNREACHABLE', why, { wasSent: isSent });
      }
      active?.election.learnPause(answer.value.pausedAt);
      return answer.value;
    } catch (thrown: unknown) {
      const { code, message, wasSent } = asLockStoreError(thrown);
      const done = isPaused ? 'paused' : 'resumed';
      const result = wasSent ? `it is not known whether the job was ${done}` : `the job was not ${done}`;
      throw new LockStoreError(code, `${name}: ${result} (${message}). Try again.`, { cause: thrown, wasSent });
    }
  }

  /**
   * Sends a request that only the leader acts on. Resolves to its reply, or to undefined if the job has no leader or the call ended first.
   * Sends nothing while this replica receives no messages, because it would not receive the reply either.
   */
  async #sendToLeader(action: Action, entry: JobEntry, lock: RenewResult, call: Call): Promise<Reply | undefined> {
    if (lock.holder === undefined) return undefined;
    const request = this.channel.request(action, entry, lock.storeTime, call);
    await this.channel.untilSubscribed(call);
    return call.signal.aborted ? undefined : this.channel.send(request, call);
  }
}
