/** The time of day with milliseconds, which shows that fixed-rate runs keep to their grid whoever leads. */
export function clockTime(atMs: number): string {
  const date = new Date(atMs);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** In milliseconds what is quick, in seconds what is not. */
export function inWords(ms: number): string {
  return ms < 1_000 ? `${String(Math.round(ms))} ms` : `${(ms / 1_000).toFixed(2)} s`;
}

/** Why a leader did not start a tick. */
export const DROPS = {
  overlap: 'tick dropped, its last run goes on',
  late: 'tick dropped, the process was blocked',
  'lease-unconfirmed': 'tick dropped, the clock jumped',
} as const;

/** Why nobody will start an occurrence any more. */
export const MISSES = {
  late: 'not run, nobody led in time',
  'start-not-confirmed': 'may not have run, its leader died',
  'schedule-changed': 'not run, the schedule changed',
  'state-lost': 'may not have run, Redis lost its data',
} as const;
