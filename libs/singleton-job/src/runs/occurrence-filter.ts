import { onlyFailed } from '../base/events/warnings.js';
import { describeValue } from '../base/text/describe-value.js';
import { showDuration } from '../base/text/duration.js';
import { type TickLoopParts } from './tick-loop.js';

const ASK_AGAIN_MS = 1_000;

/** Asks the option `only` of a cron job for each occurrence until it has answered. */
export class OccurrenceFilter {
  /** The newest occurrence for which it has failed. */
  #failedAt = 0;
  /** The newest occurrence that it wants. */
  #wantedAt = 0;

  constructor(private readonly parts: Pick<TickLoopParts, 'clock' | 'job' | 'notify' | 'sleeper'>) {}

  /** Undefined: it has failed, and is asked again after a second, or it did not answer in time, or the term is over. */
  async wants(occurrence: number): Promise<boolean | undefined> {
    const { clock, job, sleeper } = this.parts;
    if (job.only === undefined || this.#wantedAt === occurrence) return true;
    const limitMs = Math.max(job.misfireGraceMs, ASK_AGAIN_MS);
    const endsAt = clock.now() + limitMs;
    let answer: { readonly isWanted: boolean | undefined } | undefined;
    const asked = this.#ask(occurrence).then((isWanted) => (answer = { isWanted }));
    while (answer === undefined && !sleeper.isOver && clock.now() < endsAt)
      await sleeper.sleep(endsAt - clock.now(), asked);
    if (sleeper.isOver) return undefined;
    if (answer === undefined) this.#fail(occurrence, new Error(`no answer for ${showDuration(limitMs)}`));
    else if (answer.isWanted === undefined) await sleeper.sleep(ASK_AGAIN_MS);
    else if (answer.isWanted) this.#wantedAt = occurrence;
    return answer?.isWanted;
  }

  /** Undefined: it has failed. */
  async #ask(occurrence: number): Promise<boolean | undefined> {
    try {
      const isWanted: unknown = await this.parts.job.only?.(new Date(occurrence));
      if (typeof isWanted === 'boolean') return isWanted;
      throw new TypeError(`it must return a boolean, got ${describeValue(isWanted)}`);
    } catch (error: unknown) {
      this.#fail(occurrence, error);
      return undefined;
    }
  }

  /** Tells it once for each occurrence. */
  #fail(occurrence: number, error: unknown): void {
    const { job, notify } = this.parts;
    if (this.#failedAt !== occurrence) notify('warning', onlyFailed(job.name, new Date(occurrence), error));
    this.#failedAt = occurrence;
  }
}
