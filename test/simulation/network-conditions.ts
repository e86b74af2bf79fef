/**
 * The state of the path to the server. `refused`: connections are reset, and new ones are refused. `silent`: nothing arrives on either
 * side, and no error is reported. `mute`: requests do not arrive. `deaf`: answers do not arrive. What was sent meanwhile arrives when the
 * path is `up` again, because TCP repeats it.
 */
export type Way = 'up' | 'refused' | 'silent' | 'mute' | 'deaf';

/** How a network delays and loses data: the shares that are concerned, and the times. */
export interface NetworkConditions {
  readonly way: Way;
  /** The share of all data that takes up to `slowMs`. The order on one connection is kept. */
  readonly slow: number;
  readonly slowMs: number;
  /** The share of the messages of the subscription that are lost. */
  readonly lostMessages: number;
  /** The share of the messages that arrive up to `lateMs` later, after messages that were sent after them. */
  readonly lateMessages: number;
  readonly lateMs: number;
}

export const GOOD_CONDITIONS: NetworkConditions = {
  way: 'up',
  slow: 0,
  slowMs: 0,
  lostMessages: 0,
  lateMessages: 0,
  lateMs: 0,
};

/** The longest latency in good conditions. */
export const TRAVEL_MS = 2;

/** The differences from good conditions. */
export function conditionsInWords(conditions: NetworkConditions): string {
  const { way, slow, slowMs, lostMessages, lateMessages, lateMs } = conditions;
  const share = (part: number): string => `${Math.round(100 * part)} %`;
  return [
    way === 'up' ? '' : way,
    slow > 0 ? `${share(slow)} slow by up to ${Math.round(slowMs)} ms` : '',
    lostMessages > 0 ? `${share(lostMessages)} of messages lost` : '',
    lateMessages > 0 ? `${share(lateMessages)} of messages late by up to ${Math.round(lateMs)} ms` : '',
  ]
    .filter(Boolean)
    .join(', ');
}
