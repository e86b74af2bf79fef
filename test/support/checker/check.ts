import { abortsTooLate, beliefsBeyondLock, startsOutsideBelief } from './belief.js';
import { tokensNotGrown } from './fencing.js';
import { gapsTooShort, lateTicks, slotsStartedTwice, ticksUnaccounted } from './grid.js';
import { type History, type Violation } from './history.js';
import { leaderlessTooLong } from './leaderless.js';
import { contradictions, lostInSilence, startedTooLate, startedTwice } from './ledger.js';
import { actsAfterEnd, untidyStops } from './life-cycle.js';
import { leaderlessAfterCalm } from './liveness.js';
import { overlaps, startsWithoutLock, tokensGoingBack } from './mutex.js';
import { commandsBeyondBudget, resurrections, strangersChanges } from './server.js';
import { offTheGrid, tokensReused } from './terms.js';

/** Rules that look at the history as a whole. Each leaves out what the history does not tell. */
const RULES: readonly ((history: History) => Violation[])[] = [
  beliefsBeyondLock,
  startsOutsideBelief,
  abortsTooLate,
  tokensNotGrown,
  tokensReused,
  offTheGrid,
  slotsStartedTwice,
  lateTicks,
  ticksUnaccounted,
  gapsTooShort,
  resurrections,
  strangersChanges,
  untidyStops,
  actsAfterEnd,
  leaderlessAfterCalm,
  leaderlessTooLong,
  commandsBeyondBudget,
];

/** Rules about each cron job. */
const LEDGER: readonly ((history: History, job: string) => Violation[])[] = [
  startedTwice,
  lostInSilence,
  contradictions,
  startedTooLate,
];

/** Every promise that a history breaks. A pure function: the same for simulations and for real processes. */
export function check(history: History): Violation[] {
  const jobs = new Set(history.runs.map(({ job }) => job));
  return [
    ...[...jobs].flatMap((job) => {
      const runs = history.runs.filter((run) => run.job === job).sort((a, b) => a.startedMs - b.startedMs);
      return [...overlaps(runs, history), ...startsWithoutLock(runs, history), ...tokensGoingBack(runs, history)];
    }),
    ...[...history.due.keys()].flatMap((job) => LEDGER.flatMap((judge) => judge(history, job))),
    ...RULES.flatMap((judge) => judge(history)),
  ];
}
