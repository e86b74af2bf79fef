import { type History, type WitnessedTerm } from './history.js';
import { faultsOf } from './timing.js';

/**
 * Whether a loss of data explains that somebody leads beside the leader of `older`: the term began before the loss, and a
 * lease lives no longer than this after it. What a loss does beyond that is a broken promise.
 */
export function mayOutliveLoss(history: History, older: WitnessedTerm, atMs: number): boolean {
  const { settings } = history;
  if (settings === undefined) return false;
  const heldFromMs = grantedMs(history, older);
  const lifeMs = settings.lockExpiryMs * (1 + settings.drift) + settings.toleranceMs;
  return faultsOf(history, 'data-loss').some(
    ({ fromMs }) => heldFromMs <= fromMs && fromMs <= atMs && atMs <= fromMs + lifeMs,
  );
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
  // a second loss within one lease: who led in between knew nothing of the first
  if (isStillFresh(history, earlier, atMs) || isStillFresh(history, later, atMs)) return true;
  if (!mayOutliveLoss(history, earlier, atMs)) return false;
  return faultsOf(history, 'data-loss').some(
    ({ fromMs }) =>
      grantedMs(history, earlier) <= fromMs && later.gainedMs >= fromMs && isFreshTo(history, later, fromMs),
  );
}

/** Whether the store lost its data between what one process did and what another did later: nobody told the other. */
export function isForgotten(
  history: History,
  one: { readonly process: string; readonly atMs: number },
  other: { readonly process: string; readonly atMs: number },
): boolean {
  const [fromMs, untilMs] = [Math.min(one.atMs, other.atMs), Math.max(one.atMs, other.atMs)];
  const losses = faultsOf(history, 'data-loss');
  return one.process !== other.process && losses.some((loss) => fromMs <= loss.fromMs && loss.fromMs <= untilMs);
}

/**
 * Whether the first who was granted the lock after a loss of data was fresh to it: it cannot know of what was due before,
 * and the state that it begins does not tell. A survivor knows that something was lost, and its state says so.
 */
export function isLostToAFreshLeader(history: History, job: string, dueMs: number): boolean {
  const losses = faultsOf(history, 'data-loss');
  if (losses.length === 0) return false;
  const { terms = [], holdings = [], settings } = history;
  // an answer may take long: what the server did counts where it was watched
  const grants =
    holdings.length > 0
      ? holdings.map(({ fromMs, sentMs = fromMs, ...holding }) => ({ ...holding, sentMs, atMs: fromMs }))
      : terms.map(({ gainedMs, ...term }) => ({ ...term, sentMs: gainedMs, atMs: gainedMs }));
  return losses.some(({ fromMs }) => {
    const [next] = grants.filter((grant) => grant.job === job && grant.atMs >= fromMs).sort((a, b) => a.atMs - b.atMs);
    if (next === undefined) return true;
    // the state begins when the clock of the store says so
    const bornMs = next.atMs * (1 + (settings?.drift ?? 0)) + (settings?.toleranceMs ?? 0);
    // a bid tells what its process knew when it was sent
    return dueMs <= bornMs && isFreshTo(history, next, Math.min(fromMs, next.sentMs));
  });
}

/** Whether the lock of a term went with the data, and its leader could not have known for as long as it believed. */
export function isLostWithData(
  history: History,
  term: WitnessedTerm,
  { heldUntilMs, believedUntilMs }: { readonly heldUntilMs: number; readonly believedUntilMs: number },
): boolean {
  return (
    mayOutliveLoss(history, term, believedUntilMs) &&
    faultsOf(history, 'data-loss').some(({ fromMs }) => Math.abs(fromMs - heldUntilMs) < 1)
  );
}

/** When the server granted a term, which its leader may have heard much later. */
export function grantedMs({ holdings = [] }: History, { job, process, fencingToken, gainedMs }: WitnessedTerm): number {
  const granted = holdings.find(
    (holding) => holding.job === job && holding.process === process && holding.fencingToken === fencingToken,
  );
  return Math.min(granted?.fromMs ?? Infinity, gainedMs);
}
