import { keepContext } from '../runs/caller-context.js';
import { asLockStoreError, LockStoreError, unreadable } from '../base/errors/lock-store.error.js';
import { type Edit } from '../leadership/edit.js';
import { type Election } from '../leadership/election.js';
import { type Command } from '../leadership/record.js';
import { type Replica } from '../leadership/replica.js';
import { type JobRunner } from '../runs/job-runner.js';
import { type StepDownResult, type TriggerResult } from './job-status.js';
import { CommandEdit, ResumeEdit, type StoredEdit } from './record-edits.js';

const NO_REPLY = new LockStoreError('STORE_UNREACHABLE', 'no answer from the store within 2 s');

/** Steers the leader of a job by writes on the record of the job. Each call ends within 2 s, and no write of it is carried out later. */
export class JobCommands {
  #commands = 0;

  constructor(private readonly parts: { readonly replica: Replica; readonly storeName: string }) {}

  /**
   * Runs the job now on the replica that leads it.
   *
   * @throws LockStoreError when the record cannot be read, or the store denied the request
   */
  async trigger(entry: JobRunner): Promise<TriggerResult> {
    const election = this.#electionOf(entry);
    const edit = this.#command(election, 'trigger');
    const forget = keepContext(edit.id);
    const { outcome, by = null, record = {} } = (await this.#edit(election, edit).finally(forget)) ?? {};
    const leader = election.leader ?? null;
    if (outcome === 'paused') return { started: false, reason: 'paused', leader, by: this.parts.replica.id };
    if (by === null) return { started: false, reason: this.#whyNot(entry, 'triggered', election, edit), leader, by };
    const { run, fencingToken } = record;
    if (outcome === 'started' && run !== undefined && fencingToken !== undefined)
      return { started: true, fencingToken, startedAt: new Date(run.startedAt).toISOString(), by };
    return { started: false, reason: outcome === 'running' ? 'running' : 'lease-unconfirmed', leader: by, by };
  }

  /**
   * Makes the leader of the job step down. Resolves when the leader has begun to.
   *
   * @throws LockStoreError when the record cannot be read, or the store denied the request
   */
  async stepDown(entry: JobRunner): Promise<StepDownResult> {
    const election = this.#electionOf(entry);
    const edit = this.#command(election, 'step-down');
    const { by = null } = (await this.#edit(election, edit)) ?? {};
    if (by !== null) return { steppedDown: true, by };
    return { steppedDown: false, reason: this.#whyNot(entry, 'released', election, edit), by };
  }

  /** @throws LockStoreError when the store has not confirmed it */
  async pause(entry: JobRunner): Promise<{ readonly by: string | null }> {
    const election = this.#electionOf(entry);
    const edit = this.#command(election, 'step-down', true);
    const answer = await this.#store(entry, 'paused', election, edit);
    return { by: answer?.by ?? null };
  }

  /** @throws LockStoreError when the store has not confirmed it */
  async resume(entry: JobRunner): Promise<{ readonly by: string | null }> {
    const election = this.#electionOf(entry);
    const edit = new ResumeEdit({ election, view: this.parts.replica.view });
    const leader = await this.#store(entry, 'resumed', election, edit);
    return { by: leader ?? null };
  }

  /** If this replica does not compete for the job, it forgets the election when it is used no more. */
  #electionOf(entry: JobRunner): Election {
    const { replica } = this.parts;
    replica.open();
    return replica.electionFor(entry);
  }

  #command(election: Election, action: Command['action'], isPause = false): CommandEdit {
    const { id, view } = this.parts.replica;
    this.#commands += 1;
    return new CommandEdit({ election, view }, { id: `${id}#${this.#commands}`, action }, isPause);
  }

  async #edit<T>(election: Election, edit: Edit<T>): Promise<T | undefined> {
    const { replica, storeName } = this.parts;
    const result = replica.isClosing ? undefined : await election.edit(edit);
    if (election.lastSeen.isUnreadable !== true) return result;
    throw unreadable(election.name, storeName);
  }

  /** @throws LockStoreError when the store denied the request: unlike the other reasons, that needs a person */
  #whyNot(entry: JobRunner, done: string, election: Election, edit: CommandEdit) {
    const { isClosing } = this.parts.replica;
    const error = this.#unconfirmed(entry, done, election, edit);
    if (!isClosing && error.code !== 'STORE_UNREACHABLE') throw error;
    if (edit.wasSeen) return 'no-answer';
    return isClosing ? 'stopping' : 'unreachable';
  }

  async #store<T>(entry: JobRunner, done: string, election: Election, edit: StoredEdit<T>): Promise<T | undefined> {
    const result = await this.#edit(election, edit);
    if (edit.isStored) return result;
    throw this.#unconfirmed(entry, done, election, edit);
  }

  #unconfirmed({ job: { name } }: JobRunner, done: string, election: Election, { wasSent }: StoredEdit<unknown>) {
    const became = wasSent ? `it is not known whether the job was ${done}` : `the job was not ${done}`;
    const failure = wasSent ? election.writer.failure : undefined;
    return unconfirmed(`${name}: ${became}`, this.parts.replica, wasSent, failure);
  }
}

/** The error of a call that the store has not confirmed. It has the code of what failed, which may be a denied request. */
export function unconfirmed(what: string, replica: Replica, wasSent: boolean, failure?: unknown): LockStoreError {
  const cause = replica.failure ?? failure ?? NO_REPLY;
  const { code, message } = asLockStoreError(cause);
  const why = replica.isClosing ? 'the application is stopping' : message;
  return new LockStoreError(code, `${what} (${why}). Try again.`, { cause, wasSent });
}
