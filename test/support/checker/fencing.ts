import { violation } from './evidence.js';
import { type History, type Violation, type WitnessedHolding } from './history.js';

/** Each holder of a lock gets a token larger than all before it, in the order of the server, whatever the server forgot. */
export function tokensNotGrown({ holdings = [] }: History): Violation[] {
  const newest = new Map<string, WitnessedHolding>();
  return holdings.flatMap((holding) => {
    const before = newest.get(holding.job);
    if (holding.fencingToken === undefined) return [];
    if (before?.fencingToken === undefined || before.fencingToken < holding.fencingToken) {
      newest.set(holding.job, holding);
      return [];
    }
    return [violation('token-not-grown', showHolding(before), showHolding(holding))];
  });
}

export function showHolding({ job, holder, fencingToken, fromMs, untilMs }: WitnessedHolding): string {
  return `${job} is held by ${holder} from ${Math.round(fromMs)} until ${Math.round(untilMs)}, token ${String(fencingToken)}`;
}
