import { ownerOf, type Replaced } from '../store/index.js';
import { type PaceParts } from './pace.js';
import { type Missed, reportMissed, reportStateLost } from './reports.js';

/**
 * Reports what earlier leaders left unsettled, and starts none of it: occurrences that were claimed and whose runs may not
 * have begun, those that a changed schedule leaves behind, and those of which Redis lost the record. Also when the job was
 * of another kind then.
 */
export function reportInherited(parts: PaceParts): void {
  const { term } = parts;
  const { grant, memory } = term;
  const replaced = grant.raisedFrom;
  const left = replaced ?? grant;
  const settled = Math.max(left.ran, memory.ran);
  // claimed by nobody, they lie before the birth of a state that took the place of a lost one
  const isLost = left.by === '' && settled < left.last;
  if (isLost) {
    // which those were only the schedule of that time could tell
    if (replaced?.hasChanged !== true) reportStateLost(parts, settled, left.last);
  } else if (settled < left.last) {
    reportUnconfirmed(parts, { after: settled, upTo: left.last, claimedBy: ownerOf(left.by) });
  }
  if (replaced?.schedule.startsWith('cron:') === true)
    reportReplaced(parts, { ...replaced, last: isLost ? settled : left.last });
  if (grant.ran < grant.last || replaced !== undefined) memory.settled(grant.last);
}

/** What lies between the state that was replaced and the `last` that took its place. */
function reportReplaced(parts: PaceParts, { last, hasChanged }: Replaced): void {
  const { grant, memory } = parts.term;
  // what is known to be settled may have been lost by Redis, or settled by this very process in a term that could not tell it
  const after = Math.max(last, memory.seenRan);
  if (after >= grant.last) return;
  if (hasChanged) reportMissed(parts, { reason: 'schedule-changed', after, upTo: grant.last });
  // raised to what this process had seen: claimed, and Redis has lost the claim
  else reportUnconfirmed(parts, { after, upTo: grant.last });
}

function reportUnconfirmed(parts: PaceParts, window: Omit<Missed, 'reason'>): void {
  reportMissed(parts, { reason: 'start-not-confirmed', ...window });
}
