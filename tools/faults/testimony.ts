/** What replicas tell, and what the test itself does to them. */
export type WitnessedEvent =
  // by a replica
  | 'ready'
  | 'runBegan'
  | 'abortSeen'
  | 'runEnded'
  | 'gained'
  | 'lost'
  | 'released'
  | 'dropped'
  | 'missed'
  | 'loopBlocked'
  | 'storeUnreachable'
  | 'storeRecovered'
  | 'clockAhead'
  | 'stepped'
  | 'blocked'
  | 'unblocked'
  | 'broke'
  // by the test
  | 'spawned'
  | 'killed'
  | 'terminated'
  | 'stopped'
  | 'resumed'
  | 'exited'
  | 'fault'
  | 'forgot'
  | 'hindered'
  | 'unhindered'
  | 'healed'
  | 'calm';

/** One line of the record. */
export interface Testimony {
  /** When it arrived, by the one monotonic clock of the witness. */
  readonly atMs: number;
  readonly event: WitnessedEvent;
  /** Empty for what concerns no replica. */
  readonly replica: string;
  /** When the replica wrote it, by its own clocks: monotonic, and wall. */
  readonly monoMs?: number;
  readonly wallMs?: number;
  readonly job?: string;
  readonly token?: number;
  readonly run?: number;
  readonly scheduledAt?: number;
  readonly cause?: string;
  readonly kind?: string;
  readonly reason?: string;
  readonly count?: number;
  readonly from?: number;
  readonly to?: number;
  readonly blockedMs?: number;
  readonly confirmed?: boolean;
  /** What Redis has forgotten, or goes back to, was written since. */
  readonly sinceMs?: number;
}

/** When it was written, by the one clock that all processes of a machine share. */
export function toldMs({ atMs, monoMs = atMs }: Testimony): number {
  return monoMs;
}

/** How late a word of a replica reached the witness, at worst: what the machine itself took away. */
export function worstLagMs(record: readonly Testimony[]): number {
  return record.reduce((worst, testimony) => Math.max(worst, testimony.atMs - toldMs(testimony)), 0);
}

/** For a person: everything but the runs, and the ticks of a grid that were dropped for them. */
export function inLines(record: readonly Testimony[], startMs: number): string[] {
  return record
    .filter(({ event, kind }) => event !== 'runBegan' && event !== 'runEnded' && kind !== 'fixed-rate')
    .map((testimony) => inOneLine(testimony, startMs));
}

/** One line for a person. */
export function inOneLine(testimony: Testimony, startMs = 0): string {
  const { atMs, replica, event } = testimony;
  const seconds = ((atMs - startMs) / 1_000).toFixed(3).padStart(8);
  const details = Object.entries(testimony)
    .filter(([key]) => !SHOWN_FIRST.includes(key))
    .map(([key, value]) => `${key}=${shown(key, value)}`);
  return `${seconds} ${replica.padEnd(4)} ${event.padEnd(12)} ${details.join(' ')}`;
}

const SHOWN_FIRST = ['atMs', 'replica', 'event', 'monoMs', 'wallMs'];

function shown(key: string, value: unknown): string {
  const isInstant = key === 'scheduledAt' || key === 'from' || key === 'to';
  return isInstant ? new Date(Number(value)).toISOString().slice(11, 23) : String(value);
}
