import { violation } from './evidence.js';
import { faultsOf } from './timing.js';
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
    if (isOfOneMoment(history, before.fromMs, holding.fromMs)) return [];
    return [violation('token-not-grown', showHolding(before), showHolding(holding))];
  });
}

/** Whether the store lost its data between two grants of one millisecond: its clock tells them apart no more than its data. */
export function isOfOneMoment(history: History, oneMs: number, otherMs: number): boolean {
  const losses = faultsOf(history, 'data-loss');
  return Math.abs(oneMs - otherMs) < 1 && losses.some(({ fromMs }) => Math.abs(fromMs - oneMs) < 1);
}

export function showHolding({ job, holder, fencingToken, fromMs, untilMs }: WitnessedHolding): string {
  return `${job} is held by ${holder} from ${Math.round(fromMs)} until ${Math.round(untilMs)}, token ${String(fencingToken)}`;
}
