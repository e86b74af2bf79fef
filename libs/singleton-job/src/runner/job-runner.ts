import { type JobDefinition } from '../discovery/index.js';
import { type Term } from '../leadership/index.js';
import { type RunAbortCode } from '../errors/index.js';
import { type Notify, type RunInfo } from '../events/index.js';
import { type Clock } from '../time/index.js';
import { paceCron } from './cron-loop.js';
import { paceFixedRate } from './fixed-rate-loop.js';
import { noteIntervalEnd, paceInterval } from './interval-loop.js';
import { reportUnsettled } from './unsettled-occurrences.js';
import { Lane } from './overlap-guard.js';
import { type PaceParts } from './tick-loop.js';

/** The run that was started, or why none was. */
export type Triggered = RunInfo | 'running' | 'lease-unconfirmed';

/** Runs one job: spends the terms that its election hands out, one at a time. */
export class JobRunner {
  readonly #lane: Lane;

  constructor(private readonly parts: { readonly job: JobDefinition; readonly clock: Clock; readonly notify: Notify }) {
    this.#lane = new Lane({
      ...parts,
      onEnd: (term) => {
        noteIntervalEnd(parts.job, term);
      },
    });
  }

  get job(): JobDefinition {
    return this.parts.job;
  }

  /** Whether a run is in flight. */
  get isBusy(): boolean {
    return this.#lane.isBusy;
  }

  /** The run in flight; undefined if there is none. */
  get inFlight(): RunInfo | undefined {
    return this.#lane.inFlight;
  }

  /** Whether a run was in flight at any time since `sinceMs`, monotonic. */
  ranSince(sinceMs: number): boolean {
    return this.#lane.ranSince(sinceMs);
  }

  /**
   * Fires the ticks of one term until it, or `stop`, ends. Settles when nothing of the job runs any more: the end of the
   * term aborts the run in flight, a stop lets it finish.
   */
  async lead(term: Term, stop: AbortSignal): Promise<void> {
    const lane = this.#lane;
    const quitting = new AbortController();
    const quit = (): void => {
      quitting.abort();
    };
    const lost = (): void => {
      lane.abort('LEASE_LOST');
      quit();
    };
    term.signal.addEventListener('abort', lost);
    stop.addEventListener('abort', quit);
    if (term.signal.aborted) lost();
    if (stop.aborted) quit();
    try {
      const parts: PaceParts = { ...this.parts, term, lane, quit: quitting.signal };
      reportUnsettled(parts);
      await pace(parts);
    } finally {
      await lane.free();
      term.signal.removeEventListener('abort', lost);
      stop.removeEventListener('abort', quit);
    }
  }

  /** Runs the job now, whatever its schedule says, unless that would overlap or the term may not start a run yet. */
  trigger(term: Term): Triggered {
    const lane = this.#lane;
    if (lane.isBusy) return 'running';
    if (!term.isTrusted() || lane.isClosed) return 'lease-unconfirmed';
    return lane.start({ scheduledAt: this.parts.clock.wallNow(), cause: 'trigger' }, term);
  }

  /** Fires the signal of the run in flight, if there is one, and starts no other. */
  close(code: RunAbortCode): void {
    this.#lane.close(code);
  }
}

function pace(parts: PaceParts): Promise<void> {
  const { schedule } = parts.job;
  switch (schedule.kind) {
    case 'fixed-rate':
      return paceFixedRate(schedule, parts);
    case 'interval':
      return paceInterval(schedule, parts);
    case 'cron':
      return paceCron(schedule, parts);
  }
}
