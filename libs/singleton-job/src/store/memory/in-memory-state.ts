import { type Bid, type Grant } from '../lock-store.js';

/** What is kept beside a lock and outlives it. A field is missing until somebody sets it. */
export interface State {
  readonly token?: number;
  readonly born?: number;
  readonly last?: number;
  readonly by?: string | undefined;
  readonly ran?: number | undefined;
  readonly end?: number;
  readonly schedule?: string;
  readonly raisedFrom?: Grant['raisedFrom'];
  /** When it is forgotten, by the clock of the store; undefined for the state of a job, which never is. */
  readonly expiresAt?: number | undefined;
}

/** The state after a bid was granted, for the first time or again. */
export function grantedState(bid: Bid, found: { stored: State; time: number; isRepeated: boolean }) {
  const { stored, time } = found;
  const { seenRan = 0, seenSchedule } = bid;
  const old = stored.last ?? time;
  // a state that this bidder has seen is gone: what became of the occurrences since is for the next leader to say
  const isLost = stored.last === undefined && seenRan > 0;
  const schedule = stored.schedule ?? (isLost ? seenSchedule : undefined);
  const hasChanged = schedule !== undefined && schedule !== bid.schedule;
  const last = Math.max(old, bid.seenLast, hasChanged ? time : 0);
  const isRaised = last !== stored.last;
  const ran = stored.ran ?? (isLost ? Math.min(seenRan, last) : stored.by === undefined ? old : old - 1);
  const isReplaced = hasChanged || (isRaised && stored.last !== undefined);
  return {
    token: grantedToken(bid, found),
    born: stored.born ?? time,
    last,
    by: isRaised ? undefined : stored.by,
    ran: isReplaced ? Math.max(ran, last) : ran,
    end: hasChanged ? undefined : stored.end,
    schedule: bid.schedule,
    raisedFrom: isReplaced
      ? replaced({ ...stored, last: stored.last ?? ran, ran, schedule }, hasChanged)
      : stored.raisedFrom,
    expiresAt: bid.stateTtlMs === undefined ? stored.expiresAt : time + bid.stateTtlMs,
  };
}

/** The state after a bid was refused: a claim that was lost stands while somebody knows of it. The same if nothing was. */
export function toldByRefused({ seenLast, seenRan }: Bid, stored: State): State {
  if (stored.last === undefined || seenLast <= stored.last) return stored;
  return {
    ...stored,
    last: seenLast,
    by: undefined,
    ran: stored.ran === undefined ? undefined : raised(stored.ran, seenRan),
  };
}

/** What nobody has accounted for yet goes first. Undefined when there was nothing to replace: a new job has no past. */
function replaced(
  { last, ran, by = '', schedule, raisedFrom }: State & { readonly last: number; readonly ran: number },
  hasChanged: boolean,
): Grant['raisedFrom'] {
  if (raisedFrom !== undefined) return { ...raisedFrom, hasChanged: raisedFrom.hasChanged || hasChanged };
  return schedule === undefined ? undefined : { last, ran, by, schedule, hasChanged };
}

function grantedToken(bid: Bid, found: { stored: State; time: number; isRepeated: boolean }): number {
  const token = found.stored.token ?? 0;
  if (found.isRepeated && token > 0 && token >= bid.seenToken) return token;
  return Math.max(token + 1, found.time, bid.seenToken + 1);
}

/** The larger of two values, either of which may be missing. */
export function raised(stored: number | undefined, value: number | undefined): number | undefined {
  if (stored === undefined) return value;
  return value === undefined ? stored : Math.max(stored, value);
}
