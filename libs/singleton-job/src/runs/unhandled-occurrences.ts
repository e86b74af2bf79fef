import { replicaOf } from '../store/lock-store.js';
import { reportIfAnyMissed, reportMissed } from './reports.js';
import { type TickLoopParts } from './tick-loop.js';

/** Reports the occurrences that earlier leaders left unhandled. None of them is started. */
export function reportUnhandled(parts: TickLoopParts): void {
  const { claimed: upTo, unconfirmed, replaced, lost } = parts.term.backlog;
  if (lost !== undefined) reportIfAnyMissed(parts, { reason: 'state-lost', after: lost.after, upTo });
  if (unconfirmed !== undefined) {
    const { handled, claimed, claimedBy } = unconfirmed;
    const claimer = claimedBy === undefined ? undefined : replicaOf(claimedBy);
    reportMissed(parts, { reason: 'start-not-confirmed', after: handled, upTo: claimed, claimedBy: claimer });
  }
  if (replaced !== undefined) {
    reportIfAnyMissed(parts, { reason: 'schedule-changed', after: replaced.after, upTo });
  }
}
