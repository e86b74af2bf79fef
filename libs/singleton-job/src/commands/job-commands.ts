import { asStoreError, StoreError, unreadable } from '../base/errors/store.error.js';
import { type Election } from '../leadership/election.js';
import { type EditLimits, type RecordEdit } from '../leadership/record-edits.js';
import { type Command, labelOf, PAUSE_OF_ALL } from '../leadership/record.js';
import { type Replica } from '../leadership/replica.js';
import { keepContext } from './caller-context.js';
import { PauseEdit, type WantedPause } from './pause-edit.js';
import { PendingCommand } from './pending-command.js';
import { type RunEnd, type StepDownResult, type TriggerResult } from './results.js';
import { TriggeredRun } from './triggered-run.js';

const NO_ANSWER = new StoreError('STORE_UNREACHABLE', 'no answer from the store within 2 s');

/** How a caller waits for the end of the run that it triggers. */
export interface RunWait {
  /** From the call on. */
  readonly waitMs: number;
  /** Its abort ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Steers jobs by writes on their records. No write of a call is carried out after 2 s, and only a wait for the end of a
 * run lasts longer.
 */
export class JobCommands {
  #sent = 0;

  constructor(private readonly replica: Replica) {}

  /**
   * Runs the job now on the replica that leads it. `wait`: waits for the end of the run. The leader has 2 s to answer
   * also if the wait is shorter.
   *
   * @throws StoreError when the record cannot be read, or the store denied the request
   * @throws the reason of the signal
   */
  async trigger(election: Election, wait?: RunWait): Promise<TriggerResult<Partial<RunEnd>>> {
    const { clock } = this.replica;
    const { waitMs = 0, signal } = wait ?? {};
    const waitUntil = clock.now() + waitMs;
    signal?.throwIfAborted();
    const command = this.#command('trigger', election);
    await keepContext(command.id, () => this.#edit(election, command, { signal }));
    const { outcome, by, startedAt, record: { fencingToken } = {} } = command;
    if (by === null) signal?.throwIfAborted();
    const leader = election.leader ?? null;
    if (outcome === 'paused') return { started: false, reason: 'paused', leader, by: this.replica.id };
    if (by === null) return { started: false, reason: this.#whyNot(election, command, 'triggered'), leader, by };
    if (outcome !== 'started' || startedAt === undefined || fencingToken === undefined)
      return { started: false, reason: outcome === 'running' ? 'running' : 'lease-unconfirmed', leader: by, by };
    const started = { started: true, fencingToken, startedAt: new Date(startedAt).toISOString(), by } as const;
    if (wait === undefined) return started;
    const run = new TriggeredRun(command.id, startedAt, fencingToken);
    const isOver = await election.edit(run, { limitMs: Math.max(waitUntil - clock.now(), 0), signal });
    if (!isOver) signal?.throwIfAborted();
    return { ...started, ...run.end };
  }

  /**
   * Makes the leader of the job step down. Resolves when the leader has begun to.
   *
   * @throws StoreError when the record cannot be read, or the store denied the request
   */
  async stepDown(election: Election): Promise<StepDownResult> {
    const command = this.#command('step-down', election);
    await this.#edit(election, command);
    const { by } = command;
    if (by !== null) return { steppedDown: true, by };
    return { steppedDown: false, reason: this.#whyNot(election, command, 'released'), by };
  }

  /**
   * Pauses a job, or all jobs by their election, or ends that pause without `read`. See {@link PauseEdit}.
   *
   * @throws StoreError when the store has not confirmed it
   * @throws what `read` throws at the time of the store
   */
  async setPause(election: Election, read?: (storeNow: number) => WantedPause): Promise<void> {
    const { context, pauseOfAll } = this.replica;
    const edit = new PauseEdit(read, context.storeView, election !== pauseOfAll);
    const isDone = await this.#edit(election, edit);
    if (edit.refusal !== undefined) throw edit.refusal;
    if (!isDone) throw this.#unconfirmed(election, read === undefined ? 'resumed' : 'paused', edit.wasSent);
  }

  #command(action: Command['action'], election: Election): PendingCommand {
    const { id, context } = this.replica;
    this.#sent += 1;
    return new PendingCommand(`${id}#${this.#sent}`, action, election, context.storeView);
  }

  /** Whether the record has shown it within 2 s. */
  async #edit(election: Election, edit: RecordEdit, limits?: EditLimits): Promise<boolean> {
    const { replica } = this;
    replica.open();
    const isDone = !replica.isClosing && (await election.edit(edit, limits));
    if (election.observed.last.isUnreadable !== true) return isDone;
    throw unreadable(election.name, replica.context.storeName);
  }

  /** @throws StoreError when the store denied the request: unlike the other reasons, that needs a person */
  #whyNot(election: Election, { record, wasSent }: PendingCommand, done: string) {
    const { isClosing } = this.replica;
    const error = this.#unconfirmed(election, done, wasSent);
    if (!isClosing && error.code !== 'STORE_UNREACHABLE') throw error;
    if (record !== undefined) return 'no-answer';
    return isClosing ? 'stopping' : 'unreachable';
  }

  /** `done`: what becomes of the job. */
  #unconfirmed(election: Election, done: string, wasSent: boolean): StoreError {
    const was = election.name === PAUSE_OF_ALL ? 'the jobs were' : 'the job was';
    const became = wasSent ? `it is not known whether ${was} ${done}` : `${was} not ${done}`;
    const failure = wasSent ? election.writer.failure : undefined;
    return unconfirmed(`${labelOf(election.name)}: ${became}`, this.replica, wasSent, failure);
  }
}

/**
 * The error of a call that the store has not confirmed. It has the code of what failed, which may be a denied request.
 */
export function unconfirmed(what: string, replica: Replica, wasSent: boolean, failure?: unknown): StoreError {
  const cause = replica.failure ?? failure ?? NO_ANSWER;
  const { code, message } = asStoreError(cause);
  const why = replica.isClosing ? 'the application is stopping' : message;
  return new StoreError(code, `${what} (${why}). Try again.`, { cause, wasSent });
}
