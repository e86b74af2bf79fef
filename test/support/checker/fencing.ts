import { violation } from './evidence.js';
import { lossesOf } from './losses.js';
import { type History, type Violation, type WitnessedHolding } from './history.js';

/** Each holder of a lock gets a token larger than all before it, in the order of the server, whatever the server forgot. */
export function tokensNotGrown(history: History): Violation[] {
  const { holdings = [] } = history;
  const newest = new Map<string, WitnessedHolding>();
  return holdings.flatMap((holding) => {
    const before = newest.get(holding.job);
    if (holding.fencingToken === undefined) return [];
    if (before?.fencingToken === undefined || before.fencingToken < holding.fencingToken) {
      newest.set(holding.job, holding);
      return [];
    }
    // a bid that is repeated gets the token that it got before
    if (before.holder === holding.holder && before.fencingToken === holding.fencingToken) return [];
    if (isOfOneMoment(history, holding.job, [before.fromMs, holding.fromMs])) return [];
    return [violation('token-not-grown', showHolding(before), showHolding(holding))];
  });
}

/** Whether the store lost its data between two grants of one millisecond: its clock tells them apart no more than its data. */
export function isOfOneMoment(history: History, job: string, [oneMs, otherMs]: readonly [number, number]): boolean {
  const losses = lossesOf(history, 'state', job);
  return Math.abs(oneMs - otherMs) < 1 && losses.some(({ atMs }) => Math.abs(atMs - oneMs) < 1);
}

function showHolding({ job, holder, fencingToken, fromMs, untilMs }: WitnessedHolding): string {
  return `${job} is held by ${holder} from ${Math.round(fromMs)} until ${Math.round(untilMs)}, token ${String(fencingToken)}`;
}
