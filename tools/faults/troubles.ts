import { type WitnessedFault } from '../../test/support/checker.js';
import { type Testimony, type WitnessedEvent } from './testimony.js';

/** What was done to clocks, to what Redis knows and to the ways there, and what the machine did to a replica by itself. */
export function troublesIn(record: readonly Testimony[]): WitnessedFault[] {
  return record.flatMap((testimony) => TROUBLES[testimony.event]?.(testimony, record) ?? []);
}

const TROUBLES: Partial<Record<WitnessedEvent, (of: Testimony, record: readonly Testimony[]) => WitnessedFault>> = {
  stepped: ({ atMs, replica }) => ({ kind: 'clock-step', process: replica, fromMs: atMs, untilMs: atMs }),
  loopBlocked: ({ atMs, replica, blockedMs = 0 }) => ({
    kind: 'pause',
    process: replica,
    fromMs: atMs - blockedMs,
    untilMs: atMs,
  }),
  forgot: ({ atMs, kind = '', job, sinceMs }) => ({
    kind,
    fromMs: atMs,
    untilMs: atMs,
    ...(job && { job }),
    ...(sinceMs !== undefined && { sinceMs }),
  }),
  hindered: ({ atMs, replica }, record) => {
    const isEnd = (other: Testimony): boolean =>
      other.event === 'unhindered' && other.replica === replica && other.atMs >= atMs;
    const untilMs = record.find(isEnd)?.atMs ?? Infinity;
    return { kind: 'hindered', fromMs: atMs, untilMs, ...(replica && { process: replica }) };
  },
};
