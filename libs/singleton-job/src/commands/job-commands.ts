import { asStoreError, StoreError, unreadable } from '../base/errors/store.error.js';
import { type Edit } from '../leadership/edit.js';
import { type Election } from '../leadership/election.js';
import { labelOf } from '../leadership/record.js';
import { type Replica } from '../leadership/replica.js';
import { keepContext } from './caller-context.js';
import { CommandEdit, PauseEdit, type SteeringEdit } from './record-edits.js';
import { type StepDownResult, type TriggerResult } from './results.js';

const NO_REPLY = new StoreError('STORE_UNREACHABLE', 'no answer from the store within 2 s');

/**
 * Steers the leader of a job by writes on the record of the job. Each call ends within 2 s, and no write of it is
 * carried out later.
 */
export class JobCommands {
  #edits = 0;

  constructor(private readonly replica: Replica) {}

  /**
   * Runs the job now on the replica that leads it.
   *
   * @throws StoreError when the record cannot be read, or the store denied the request
   */
  async trigger(election: Election): Promise<TriggerResult> {
    const edit = new CommandEdit(...this.#about(election, 'triggered'));
    const { outcome, by = null, record = {} } = (await keepContext(edit.id, () => this.#edit(edit))) ?? {};
    const leader = election.leader ?? null;
    if (outcome === 'paused') return { started: false, reason: 'paused', leader, by: this.replica.id };
    if (by === null) return { started: false, reason: this.#whyNot(edit), leader, by };
    const { run, fencingToken } = record;
    if (outcome === 'started' && run !== undefined && fencingToken !== undefined)
      return { started: true, fencingToken, startedAt: new Date(run.startedAt).toISOString(), by };
    return { started: false, reason: outcome === 'running' ? 'running' : 'lease-unconfirmed', leader: by, by };
  }

  /**
   * Makes the leader of the job step down. Resolves when the leader has begun to.
   *
   * @throws StoreError when the record cannot be read, or the store denied the request
   */
  async stepDown(election: Election): Promise<StepDownResult> {
    const edit = new CommandEdit(...this.#about(election, 'released'));
    const { by = null } = (await this.#edit(edit)) ?? {};
    return by === null ? { steppedDown: false, reason: this.#whyNot(edit), by } : { steppedDown: true, by };
  }

  /** @throws StoreError when the store has not confirmed it */
  pause(election: Election): Promise<void> {
    return this.#store(new PauseEdit(...this.#about(election, 'paused')));
  }

  /** @throws StoreError when the store has not confirmed it */
  resume(election: Election): Promise<void> {
    return this.#store(new PauseEdit(...this.#about(election, 'resumed')));
  }

  /** What an edit of a job is made with. */
  #about(election: Election, done: SteeringEdit['done']): ConstructorParameters<typeof SteeringEdit> {
    const { replica } = this;
    replica.open();
    this.#edits += 1;
    return [election, replica.context.storeView, `${replica.id}#${this.#edits}`, done];
  }

  async #edit<T>(edit: SteeringEdit & Edit<T>): Promise<T | undefined> {
    const { replica } = this;
    const { election } = edit;
    const result = replica.isClosing ? undefined : await election.edit(edit);
    if (election.observed.last.isUnreadable !== true) return result;
    throw unreadable(election.name, replica.context.storeName);
  }

  /** @throws StoreError when the store denied the request: unlike the other reasons, that needs a person */
  #whyNot(edit: CommandEdit) {
    const { isClosing } = this.replica;
    const error = this.#unconfirmed(edit);
    if (!isClosing && error.code !== 'STORE_UNREACHABLE') throw error;
    if (edit.wasSeen) return 'no-answer';
    return isClosing ? 'stopping' : 'unreachable';
  }

  async #store(edit: PauseEdit): Promise<void> {
    if ((await this.#edit(edit)) === undefined) throw this.#unconfirmed(edit);
  }

  #unconfirmed({ election, done, wasSent }: SteeringEdit) {
    const became = wasSent ? `it is not known whether the job was ${done}` : `the job was not ${done}`;
    const failure = wasSent ? election.writer.failure : undefined;
    return unconfirmed(`${labelOf(election.name)}: ${became}`, this.replica, wasSent, failure);
  }
}

/**
 * The error of a call that the store has not confirmed. It has the code of what failed, which may be a denied request.
 */
export function unconfirmed(what: string, replica: Replica, wasSent: boolean, failure?: unknown): StoreError {
  const cause = replica.failure ?? failure ?? NO_REPLY;
  const { code, message } = asStoreError(cause);
  const why = replica.isClosing ? 'the application is stopping' : message;
  return new StoreError(code, `${what} (${why}). Try again.`, { cause, wasSent });
}
