import { grantedMs, holdingOf, isFreshTo } from './data-loss.js';
import { type History, type WitnessedRun, type WitnessedStep } from './history.js';
import { isKept, type Loss, lossesOf, wasForgotten } from './losses.js';
import { isHindered, ON_TIME_MS } from './timing.js';

/** What a process did at a moment. */
interface Deed {
  readonly process: string;
  readonly atMs: number;
}

/** An occurrence of a job. */
interface Occurrence {
  readonly job: string;
  readonly at: number;
}

/**
 * Whether whoever did this could not know that an occurrence was claimed: the store has lost the claim, and nobody who knew of it
 * has led since and told it again. That much is not promised, and nothing more.
 */
export function isForgotten(history: History, occurrence: Occurrence, by: Deed): boolean {
  return isUntold(history, occurrence, decidedMs(history, occurrence, by));
}

/**
 * Whether it could not know what became of the occurrence: that it is settled tell only those who have settled it, and not by a
 * bid, which leaves to the next leader to say what became of what it has replaced.
 */
export function isOutcomeForgotten(history: History, occurrence: Occurrence, by: Deed): boolean {
  const steps = history.steps?.filter(({ command }) => command !== 'acquire') ?? [];
  return isUntold({ ...history, sights: [], steps }, occurrence, decidedMs(history, occurrence, by));
}

/** Whether a heartbeat of the run's own term had told its start, and the store still knew when its reporter was granted the lock. */
export function isStartTold(history: History, run: WitnessedRun, by: Deed): boolean {
  const { job, process, scheduledAt, startedMs } = run;
  const { steps = [], settings } = history;
  // where a request is seen on its way, it had left before
  const fromMs = startedMs + (settings?.toleranceMs ?? 0);
  const holder = holdingOf(history, run)?.holder;
  const told = steps
    .filter((step) => step.job === job && step.process === process && step.before === step.holder)
    .filter((step) => step.holder === (holder ?? step.holder))
    .filter(({ command, sentMs = NaN }) => (command === 'renew' || command === 'release') && sentMs > fromMs)
    .map(({ atMs }) => atMs);
  return isKept(lossesOf(history, 'state', job), told, decidedMs(history, { job, at: scheduledAt }, by));
}

/** Whether the store has lost, by then, all that it was told of an occurrence. */
function isUntold(history: History, occurrence: Occurrence, byMs: number): boolean {
  const losses = lossesOf(history, 'state', occurrence.job);
  return losses.length > 0 && wasForgotten(losses, tellings(history, occurrence, losses), byMs);
}

/** From when on a leader went by what the store knew: from its own first claim, or from its grant. */
function decidedMs({ steps = [], ...history }: History, { job, at }: Occurrence, { process, atMs }: Deed): number {
  const lostMs = lastOf(lossesOf(history, 'state', job), atMs)?.atMs ?? -Infinity;
  const own = steps.filter((step) => step.job === job && step.process === process && step.atMs <= atMs);
  const claim = own.find((step) => step.atMs > lostMs && (step.claimed ?? -Infinity) >= at);
  const grant = own.findLast(({ command, holder, after }) => command === 'acquire' && after === holder);
  return claim?.atMs ?? grant?.atMs ?? atMs;
}

/** When the store was told that an occurrence is claimed, be it by a claim of a later one. */
function tellings(history: History, { job, at }: Occurrence, losses: readonly Loss[]): number[] {
  const { steps = [], sights = [] } = history;
  const knew = (step: WitnessedStep): boolean =>
    hadSettled(history, { job, at }, step) ||
    sights.some(
      (sight) =>
        sight.job === job && sight.process === step.process && sight.last >= at && sight.atMs <= (step.sentMs ?? NaN),
    );
  const tells = (step: WitnessedStep): boolean => {
    const { command, holder, before, after, claimed = -Infinity, atMs } = step;
    switch (command) {
      case 'claim':
        return claimed >= at;
      case 'acquire':
        return after === holder && knew(step);
      case 'release':
        return before === holder && knew(step);
      case 'renew':
        // what was confirmed is told again over a new connection, and not where a key was deleted behind everybody's back
        return after === holder && lastOf(losses, atMs)?.kind === 'fall-back' && hadSettled(history, { job, at }, step);
    }
  };
  return steps.filter((step) => step.job === job && tells(step)).map(({ atMs }) => atMs);
}

/** Whether its sender had started or reported an occurrence, or a later one, before it sent a command. */
function hadSettled(
  { runs, reports }: History,
  { job, at }: Occurrence,
  { process, sentMs = NaN }: WitnessedStep,
): boolean {
  return (
    runs.some(
      (run) => run.job === job && run.process === process && run.scheduledAt >= at && run.startedMs <= sentMs,
    ) ||
    reports.some(
      (other) => other.job === job && other.process === process && other.to >= at && (other.atMs ?? NaN) <= sentMs,
    )
  );
}

function lastOf(losses: readonly Loss[], atMs: number): Loss | undefined {
  return losses.findLast((loss) => loss.atMs < atMs);
}

/** Whether the store has lost what the release of the earlier run's term told it, before the later one's term was granted. */
export function isHandOverForgotten(history: History, earlier: WitnessedRun, later: WitnessedRun): boolean {
  const { steps = [], terms = [] } = history;
  const { job } = earlier;
  if (earlier.process === later.process) return false;
  const held = holdingOf(history, earlier);
  const told = steps
    .filter(({ command, holder, before }) => command === 'release' && before === holder && holder === held?.holder)
    .map(({ atMs }) => atMs);
  const term = terms.find((other) => other.job === job && other.fencingToken === later.fencingToken);
  const atMs = term === undefined ? later.startedMs : grantedMs(history, term);
  return wasForgotten(lossesOf(history, 'state', job), told, atMs);
}

/**
 * Whether the first who was granted the lock after the state was lost was fresh to that: it cannot know of what was due before,
 * and the state that it begins does not tell. A survivor knows that something was lost, and its state says so.
 */
export function isLostToAFreshLeader(history: History, { job, at }: Occurrence): boolean {
  const losses = lossesOf(history, 'state', job).filter((loss) => !hadState(history, job, loss.sinceMs));
  if (losses.length === 0) return false;
  const { terms = [], holdings = [], steps = [], settings } = history;
  const dueMs = at - (settings?.epochMs ?? 0);
  // an answer may take long: what the server did counts where it was watched
  const grants =
    holdings.length > 0
      ? holdings
          .filter(({ fencingToken }) => fencingToken !== undefined)
          .map(({ fromMs, sentMs = fromMs, ...holding }) => ({ ...holding, sentMs, atMs: fromMs }))
      : terms.map(({ gainedMs, ...term }) => ({ ...term, sentMs: gainedMs, atMs: gainedMs }));
  return losses.some((loss) => {
    const [next] = grants
      .filter((grant) => grant.job === job && grant.atMs >= loss.atMs)
      .sort((a, b) => a.atMs - b.atMs);
    // who kept its lock through the loss knows what was due, and tells it
    if (next === undefined) return !holdings.some((held) => held.job === job && held.untilMs > loss.atMs);
    // the state begins when the clock of the store says so
    const bornMs = next.atMs * (1 + (settings?.drift ?? 0)) + (settings?.toleranceMs ?? 0);
    // who led on with its lock may have claimed it
    const isClaimed = steps.some(
      (step) => step.job === job && (step.claimed ?? 0) >= at && loss.atMs < step.atMs && step.atMs < next.atMs,
    );
    if (isClaimed || wasPassedOver(history, { job, at }, loss)) return false;
    // a bid tells what its process knew when it was sent
    return dueMs <= bornMs && isFreshTo(history, next, Math.min(loss.atMs, next.sentMs));
  });
}

/**
 * Whether a leader went on before a loss although it had to account for the occurrence by then: it had settled a later one, or
 * the grace was over and nothing had kept it from looking at its clock.
 */
function wasPassedOver(history: History, { job, at }: Occurrence, { atMs }: Loss): boolean {
  const { steps = [], settings } = history;
  const later = { job, at: at + 1 };
  const graceMs = settings?.misfireGraceMs?.get(job) ?? Infinity;
  const overMs = at - (settings?.epochMs ?? NaN) + Math.max(graceMs, ON_TIME_MS) + (settings?.lockExpiryMs ?? 0);
  return steps.some(
    (step) =>
      step.job === job &&
      step.atMs < atMs &&
      step.command !== 'acquire' &&
      step.before === step.holder &&
      (hadSettled(history, later, step) ||
        ((step.sentMs ?? NaN) > overMs &&
          !isHindered(history, step.process, { fromMs: overMs - ON_TIME_MS, untilMs: step.atMs }))),
  );
}

/** Whether the job had a state at a moment: somebody had been granted its lock. */
function hadState(history: History, job: string, atMs: number): boolean {
  const { steps = [] } = history;
  const grants = steps.filter((step) => step.job === job && step.command === 'acquire' && step.after === step.holder);
  return isKept(
    lossesOf(history, 'state', job),
    grants.map((step) => step.atMs),
    atMs,
  );
}
