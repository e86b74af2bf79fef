import { type JobEvent, type JobEvents } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { type Clock } from '../base/time/clock.js';
import { SystemClock } from '../base/time/system-clock.js';

/** An event, and when it was reported in milliseconds of the clock's `now()`. */
export type RecordedEvent = JobEvent & {
  /** Milliseconds of the `now()` of the clock. */
  readonly atMs: number;
};

/** Keeps every event in order, for tests that check them all: `observers: [recorder]`. */
export class RecordingObserver implements JobObserver {
  /** Every event, oldest first. */
  readonly events: RecordedEvent[] = [];

  constructor(private readonly clock: Clock = new SystemClock()) {}

  /** Records an event. The library calls it. */
  onEvent({ event, payload }: JobEvent): void {
    this.events.push({ atMs: this.clock.now(), event, payload } as RecordedEvent);
  }

  /** The payloads of one kind of event, oldest first. */
  of<E extends keyof JobEvents>(event: E): JobEvents[E][] {
    return this.events.flatMap((one) => (one.event === event ? [one.payload as JobEvents[E]] : []));
  }

  /**
   * One line for each event, such as `500 runStarted` or `1000 tickDropped overlap`: time, event, and reason if there
   * is one. With several jobs the name of the job comes before the reason: `500 runStarted price-tick schedule`.
   * Heartbeats are left out.
   */
  get eventLines(): string[] {
    const shown = this.events.filter(({ event }) => event !== 'heartbeatAnswered');
    const jobs = new Set(shown.flatMap(({ payload }) => jobOf(payload)));
    return shown.map(({ atMs, event, payload }) =>
      [Math.round(atMs), event, ...(jobs.size > 1 ? jobOf(payload) : []), ...why(payload)].join(' '),
    );
  }
}

function jobOf(payload: object): string[] {
  return 'job' in payload && typeof payload.job === 'string' ? [payload.job] : [];
}

function why(payload: object): string[] {
  const fields: Readonly<Record<string, unknown>> = { ...payload };
  return ['reason', 'cause', 'code', 'leader'].flatMap((key) => (key in fields ? [String(fields[key])] : []));
}
