import { type History, type WitnessedHolding, type WitnessedTerm } from './history.js';
import { type Loss, lossesOf } from './losses.js';
import { attemptMs, faultsOf, isHindered, safetyMarginMs } from './timing.js';

/** Whether a loss of all data explains that somebody leads beside the leader of `older`, who has not heard of it yet. */
function mayOutliveLoss(history: History, older: WitnessedTerm, atMs: number): boolean {
  const losses = lossesOf(history, 'lock', older.job).filter(({ kind }) => kind === 'data-loss');
  return mayBelieveAfter(history, older, { losses, atMs });
}

/**
 * Whether a lock that went without its state, or with the last writes alone, explains that somebody leads beside the leader of
 * `older`: nobody can tell, and nobody waits.
 */
function mayNotKnowItsLock(history: History, older: WitnessedTerm, atMs: number, later?: WitnessedTerm): boolean {
  const losses = lossesOf(history, 'lock', older.job).filter(({ kind }) => kind !== 'data-loss');
  return mayBelieveAfter(history, older, { losses: losses.filter(tookFrom(history, older, later)), atMs });
}

/** Whether a loss took the lock from a leader while it led, and gave it to the later one, or let that be granted it. */
function tookFrom(history: History, older: WitnessedTerm, later: WitnessedTerm | undefined): (loss: Loss) => boolean {
  const marginMs = history.settings === undefined ? 0 : safetyMarginMs(history.settings);
  const untilMs = (older.endedMs ?? Infinity) + (older.end === 'released' ? 0 : marginMs);
  const nextMs = later === undefined ? Infinity : grantedMs(history, later);
  return ({ atMs, sinceMs }) => atMs <= untilMs && (nextMs >= atMs || nextMs < sinceMs);
}

/**
 * The leader learns of a loss from its next renewal, and then its run has the margin to settle in; one that is hindered as well
 * trusts its lease to the end. What a loss does beyond that is a broken promise.
 */
function mayBelieveAfter(
  history: History,
  older: WitnessedTerm,
  { losses, atMs }: { readonly losses: readonly Loss[]; readonly atMs: number },
): boolean {
  const { settings } = history;
  if (settings === undefined) return false;
  const { heartbeatIntervalMs, lockExpiryMs, drift, toleranceMs, travelMs = 0 } = settings;
  const askMs = heartbeatIntervalMs + attemptMs(settings) + 2 * travelMs;
  const settledMs = (askMs + safetyMarginMs(settings)) * (1 + drift) + toleranceMs;
  const heldFromMs = grantedMs(history, older);
  return losses.some((loss) => {
    if (loss.atMs < heldFromMs || atMs < loss.atMs) return false;
    // what was sent right before was hindered too
    const near = { fromMs: loss.atMs - attemptMs(settings), untilMs: loss.atMs + askMs };
    const lifeMs = lockExpiryMs * (1 + drift) + toleranceMs;
    return atMs <= loss.atMs + (isHindered(history, older.process, near) ? lifeMs : settledMs);
  });
}

/**
 * Whether a process is fresh to a loss of data: it had heard nothing of the job before, and so cannot know that another
 * may still lead. Nothing is promised about it until the lock would have expired.
 */
export function isFreshTo(
  history: History,
  { job, process }: { readonly job: string; readonly process: string },
  lossMs: number,
): boolean {
  const met = history.processes?.find((other) => other.process === process)?.metMs?.get(job);
  return met === undefined || met >= lossMs;
}

/** Whether the leader of a term was fresh to a loss of data after which a lock of before could live still. */
function isStillFresh(history: History, term: WitnessedTerm, atMs: number): boolean {
  const { settings } = history;
  if (settings === undefined) return false;
  const lifeMs = settings.lockExpiryMs * (1 + settings.drift) + settings.toleranceMs;
  return faultsOf(history, 'data-loss').some(
    ({ fromMs }) => fromMs <= term.gainedMs && atMs <= fromMs + lifeMs && isFreshTo(history, term, fromMs),
  );
}

/** Whether a loss of data that `later` was fresh to excuses that it ran beside `earlier`, at this moment. */
export function isExcusedByLoss(
  history: History,
  {
    earlier,
    later,
    atMs,
  }: { readonly earlier: WitnessedTerm | undefined; readonly later: WitnessedTerm | undefined; readonly atMs: number },
): boolean {
  if (earlier === undefined || later === undefined) return false;
  if (mayNotKnowItsLock(history, earlier, atMs, later)) return true;
  if (!mayOutliveLoss(history, earlier, atMs)) return false;
  const isFresh = isStillFresh(history, later, atMs);
  // without a loss between the two grants, the store itself excludes the one while the other holds
  return faultsOf(history, 'data-loss').some(
    ({ fromMs }) =>
      grantedMs(history, earlier) <= fromMs &&
      later.gainedMs >= fromMs &&
      (isFresh || isFreshTo(history, later, fromMs) || trustedALostLock(history, later, fromMs)),
  );
}

/**
 * Whether the leader of a term trusted a lease of before when the data was lost, and so waited for nobody, although an earlier loss had
 * taken the lock of that lease and somebody else may have been granted it, of whom it had not read.
 */
function trustedALostLock(history: History, later: WitnessedTerm, lossMs: number): boolean {
  const { job, process } = later;
  const { terms = [], refusals = [], settings } = history;
  if (settings === undefined) return false;
  const lifeMs = settings.lockExpiryMs * (1 + settings.drift) + settings.toleranceMs;
  const taken = lossesOf(history, 'lock', job).filter(({ atMs }) => atMs < lossMs && lossMs <= atMs + lifeMs);
  const won = holdingOf(history, later);
  // a refusal of the bid that has won in the end came too late to be read as one
  const read = refusals.filter(
    (refusal) =>
      refusal.job === job &&
      refusal.process === process &&
      refusal.holder !== won?.holder &&
      refusal.atMs <= (won?.sentMs ?? later.gainedMs),
  );
  return terms.some((term) => {
    if (term.job !== job || term.process !== process) return false;
    return taken.some(
      ({ atMs }) =>
        grantedMs(history, term) <= atMs &&
        atMs <= (term.endedMs ?? Infinity) &&
        !read.some((refusal) => refusal.atMs >= atMs),
    );
  });
}

/** Whether the lock of a term went with the data, and its leader could not have known for as long as it believed. */
export function isLostWithData(
  history: History,
  term: WitnessedTerm,
  { heldUntilMs, believedUntilMs }: { readonly heldUntilMs: number; readonly believedUntilMs: number },
): boolean {
  const isOfAll =
    mayOutliveLoss(history, term, believedUntilMs) &&
    faultsOf(history, 'data-loss').some(({ fromMs }) => Math.abs(fromMs - heldUntilMs) < 1);
  if (isOfAll) return true;
  // a lock that is there again has the time to live that it had before
  const wasHeld = lossesOf(history, 'lock', term.job).some(({ atMs }) => heldUntilMs > atMs - 1);
  return wasHeld && mayNotKnowItsLock(history, term, believedUntilMs);
}

/** When the server granted a term, which its leader may have heard much later. */
export function grantedMs(history: History, term: WitnessedTerm): number {
  return Math.min(holdingOf(history, term)?.fromMs ?? Infinity, term.gainedMs);
}

/** The lock of a term, or of a run in it, as the server held it. */
export function holdingOf(
  { holdings = [] }: History,
  { job, process, fencingToken }: Pick<WitnessedTerm, 'job' | 'process' | 'fencingToken'>,
): WitnessedHolding | undefined {
  return holdings.find(
    (holding) => holding.job === job && holding.process === process && holding.fencingToken === fencingToken,
  );
}

/** Whether the leader of a term may believe in a lock that a loss has taken. */
export function mayNotKnowLoss(history: History, term: WitnessedTerm, atMs: number): boolean {
  return mayOutliveLoss(history, term, atMs) || mayNotKnowItsLock(history, term, atMs);
}
