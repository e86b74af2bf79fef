/**
 * What the way to the server carries. `refused`: connections are reset, new ones are refused. `silent`: nothing arrives on either
 * side, and nobody is told. `mute`: requests do not arrive, `deaf`: answers do not. What was sent meanwhile arrives when the way is
 * `up` again, as TCP sends it again.
 */
export type Way = 'up' | 'refused' | 'silent' | 'mute' | 'deaf';

/** How a network treats what is sent over it: shares of what it carries, and how long that takes. */
export interface NetworkConditions {
  readonly way: Way;
  /** A share of everything that takes up to `slowMs` instead of a moment. On one connection nothing overtakes anything. */
  readonly slow: number;
  readonly slowMs: number;
  /** A share of the messages of the subscription that nobody receives. */
  readonly lostMessages: number;
  /** A share of the messages that come up to `lateMs` later, after others that were sent after them. */
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

/** The longest that anything travels in good conditions. */
export const TRAVEL_MS = 2;

/** What is not as in good conditions. */
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
