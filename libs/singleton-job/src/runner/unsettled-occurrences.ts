import { replicaOf } from '../store/index.js';
import { type TickLoopParts } from './tick-loop.js';
import { reportIfAnyMissed, reportMissed } from './reports.js';

/** Reports the occurrences that earlier leaders left unsettled. None of them is started. */
export function reportUnsettled(parts: TickLoopParts): void {
  const { inherited } = parts.term.facts;
  if (inherited === undefined) return;
  const { newestClaimed, unconfirmed, replaced, lost } = inherited;
  if (lost !== undefined) reportIfAnyMissed(parts, { reason: 'state-lost', after: lost.after, upTo: newestClaimed });
  if (unconfirmed !== undefined) {
    const { settled, claimed, claimedBy } = unconfirmed;
    const claimer = claimedBy === undefined ? undefined : replicaOf(claimedBy);
    reportMissed(parts, { reason: 'start-not-confirmed', after: settled, upTo: claimed, claimedBy: claimer });
  }
  if (replaced !== undefined) {
    reportIfAnyMissed(parts, { reason: 'schedule-changed', after: replaced.after, upTo: newestClaimed });
  }
}
