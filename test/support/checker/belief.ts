import { showRun, showTerm, violation } from './evidence.js';
import { isLostWithData } from './data-loss.js';
import { type History, type Violation } from './history.js';
import { byTerm, deadlineMs, sleeps, termKey } from './timing.js';

/** While a process may believe that it leads, by the answers that it has read, the server says the same. */
export function beliefsBeyondLock(history: History): Violation[] {
  const { settings, holdings, terms = [], endMs = Infinity } = history;
  if (settings === undefined || holdings === undefined) return [];
  const confirmations = byTerm(history);
  const held = new Map(
    holdings.map((holding) => [termKey({ ...holding, fencingToken: holding.fencingToken ?? -1 }), holding]),
  );
  const releases = firstReleases(history);
  return terms.flatMap((term) => {
    const last = held.get(termKey(term));
    const isAsleep = sleeps({ ...history, settings }, term, term.endedMs ?? endMs);
    const deadline = deadlineMs({ ...history, settings }, confirmations.get(termKey(term)) ?? [], {
      gainedMs: term.gainedMs,
      sleeps: isAsleep,
    });
    const releasedMs = releases.get(last?.holder ?? '') ?? Infinity;
    const untilMs = Math.min(deadline, term.endedMs ?? endMs, releasedMs);
    // a bid that arrives again after a loss of data takes the lock for the same holder once more
    const heldUntilMs = Math.max(
      ...holdings
        .filter(({ holder, job }) => holder === last?.holder && job === term.job)
        .map(({ untilMs }) => untilMs),
    );
    // the margin covers the drift between two clocks, but not that of a host that sleeps for as long as the margin
    const slackMs = settings.toleranceMs + (isAsleep ? 2 * settings.lockExpiryMs * settings.drift : 0);
    const isWithin = last !== undefined && last.fromMs <= term.gainedMs && untilMs <= heldUntilMs + slackMs;
    if (isWithin || isLostWithData(history, term, { heldUntilMs, believedUntilMs: untilMs })) return [];
    const truth =
      last === undefined ? 'never held' : `held from ${Math.round(last.fromMs)} until ${Math.round(heldUntilMs)}`;
    return [violation('belief-beyond-lock', showTerm(term), `believed until ${Math.round(untilMs)}, ${truth}`)];
  });
}

/** When each holder first gave its lock back: from then on it believes in nothing. */
function firstReleases({ steps = [] }: History): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  for (const { command, holder, sentMs, atMs } of steps) {
    if (command === 'release') first.set(holder, Math.min(first.get(holder) ?? Infinity, sentMs ?? atMs));
  }
  return first;
}

/** No run starts outside the belief of its process, nor past the deadline of its lease. */
export function startsOutsideBelief(history: History): Violation[] {
  const { runs, terms, settings } = history;
  if (terms === undefined) return [];
  const led = new Map(terms.map((term) => [termKey(term), term]));
  const confirmations = byTerm(history);
  return runs.flatMap((run) => {
    const term = led.get(termKey(run));
    if (term === undefined) return [violation('start-outside-term', showRun(run))];
    if (run.startedMs < term.gainedMs || run.startedMs > (term.endedMs ?? Infinity))
      return [violation('start-outside-term', showRun(run), showTerm(term))];
    if (settings === undefined || history.confirmations === undefined) return [];
    const confirmed = confirmations.get(termKey(run)) ?? [];
    const known = { ...history, settings };
    const read = { gainedMs: term.gainedMs, atMs: run.startedMs, sleeps: sleeps(known, term, run.startedMs) };
    const deadline = deadlineMs(known, confirmed, read);
    if (run.startedMs <= deadline) return [];
    const found = confirmed.length === 0 ? 'nothing granted had been read' : `the deadline was ${Math.round(deadline)}`;
    return [violation('start-after-deadline', showRun(run), found)];
  });
}

/** The signal of a run fires at the deadline itself, unless its process stood still and could not. */
export function abortsTooLate(history: History): Violation[] {
  const { settings, runs, terms = [] } = history;
  if (settings === undefined) return [];
  const gained = new Map(terms.map((term) => [termKey(term), term.gainedMs]));
  const confirmations = byTerm(history);
  return runs.flatMap((run) => {
    const confirmed = confirmations.get(termKey(run));
    const gainedMs = gained.get(termKey(run));
    if (confirmed === undefined || gainedMs === undefined) return [];
    const known = { ...history, settings };
    const { process, stoodStill = false, wentOnMs, endedMs = Infinity } = run;
    if ((stoodStill && wentOnMs === undefined) || sleeps(known, { process, gainedMs }, endedMs)) return [];
    const leaseMs = deadlineMs(known, confirmed, { gainedMs, sleeps: false });
    const deadline = Math.max(leaseMs, (wentOnMs ?? -Infinity) + settings.toleranceMs);
    if ((run.endedMs ?? -Infinity) <= deadline || (run.abortedMs ?? Infinity) <= deadline) return [];
    return [violation('aborted-too-late', showRun(run), `the deadline was ${Math.round(deadline)}`)];
  });
}
