import { type JobEvents, type JobObserver, type Notify } from '../events/index.js';
import { type Clock, SystemClock } from '../time/index.js';

/** One event as it was told, and when, in monotonic milliseconds. */
export type RecordedEvent = {
  [E in keyof JobEvents]: { readonly atMs: number; readonly event: E; readonly payload: JobEvents[E] };
}[keyof JobEvents];

/** Keeps every event in order, for tests that assert on the whole story: `observers: [recorder]`. */
export class RecordingObserver implements Required<JobObserver> {
  readonly leadershipGained = this.#teller('leadershipGained');
  readonly leadershipLost = this.#teller('leadershipLost');
  readonly leadershipReleased = this.#teller('leadershipReleased');
  readonly leaseRenewed = this.#teller('leaseRenewed');
  readonly runStarted = this.#teller('runStarted');
  readonly runSucceeded = this.#teller('runSucceeded');
  readonly runFailed = this.#teller('runFailed');
  readonly runCancelled = this.#teller('runCancelled');
  readonly runSlow = this.#teller('runSlow');
  readonly tickDropped = this.#teller('tickDropped');
  readonly occurrencesMissed = this.#teller('occurrencesMissed');
  readonly eventLoopBlocked = this.#teller('eventLoopBlocked');
  readonly storeUnreachable = this.#teller('storeUnreachable');
  readonly storeRecovered = this.#teller('storeRecovered');
  readonly requestDenied = this.#teller('requestDenied');
  readonly clockAhead = this.#teller('clockAhead');
  readonly evictionPossible = this.#teller('evictionPossible');
  readonly restartsHidden = this.#teller('restartsHidden');
  readonly lockTtlRestored = this.#teller('lockTtlRestored');
  readonly runnerFailed = this.#teller('runnerFailed');
  readonly observerFailed = this.#teller('observerFailed');

  readonly events: RecordedEvent[] = [];

  constructor(private readonly clock: Clock = new SystemClock()) {}

  /** The {@link Notify} to hand to what is under test. */
  readonly notify: Notify = (event, payload) => {
    this.events.push({ atMs: this.clock.now(), event, payload } as RecordedEvent);
  };

  /** The payloads of one kind of event, oldest first. */
  of<E extends keyof JobEvents>(event: E): JobEvents[E][] {
    return this.events
      .filter((recorded) => recorded.event === event)
      .map((recorded) => recorded.payload as JobEvents[E]);
  }

  /**
   * One line an event, such as `500 runStarted` or `1000 tickDropped overlap`: when, what, and why if there is a why.
   * Without the heartbeats, which say that nothing happened.
   */
  get story(): string[] {
    const told = this.events.filter(({ event }) => event !== 'leaseRenewed');
    return told.map(({ atMs, event, payload }) => [Math.round(atMs), event, ...why(payload)].join(' '));
  }

  #teller<E extends keyof JobEvents>(event: E): (payload: JobEvents[E]) => void {
    return (payload) => {
      this.notify(event, payload);
    };
  }
}

function why(payload: object): string[] {
  const known = new Map<string, unknown>(Object.entries(payload));
  return ['reason', 'cause', 'code'].flatMap((key) => (known.has(key) ? [String(known.get(key))] : []));
}
