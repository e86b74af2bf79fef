import { originalProgram } from '../../test/simulation/original-program.js';
import { play, settleOnTheSpot, type Staging } from '../../test/simulation/simulation.js';
import { drawThemed } from '../../test/simulation/themes.js';
import { type Rule, type Violation } from '../../test/support/checker.js';
import { beyondBounds } from '../../test/support/checker/bounds.js';
import { type Cast, type Catch, type Hunt } from './bug.js';

/** `node player.js <hunt> <cast>`, both as JSON: plays seeds and prints a {@link Catch}. */
const [hunt = '{}', cast = '"library"'] = process.argv.slice(2);
settleOnTheSpot();
process.stdout.write(JSON.stringify(await find(JSON.parse(hunt) as Hunt, JSON.parse(cast) as Cast)));

async function find({ theme, first, count, until }: Hunt, cast: Cast): Promise<Catch> {
  const staging: Staging = cast === 'library' ? {} : { programOf: () => originalProgram(cast) };
  const firstOf = new Map<Rule, Violation & { readonly seed: number }>();
  const times: Partial<Record<Rule, number>> = {};
  let stories = 0;
  for (let seed = first; seed < first + count && (until === undefined || !firstOf.has(until)); seed++) {
    const { plan, bounds } = drawThemed(theme, seed);
    const { history, violations } = await play(plan, staging);
    stories += 1;
    const found = new Map<Rule, Violation>();
    for (const violation of [...violations, ...(bounds === undefined ? [] : beyondBounds(history, bounds))]) {
      if (!found.has(violation.rule)) found.set(violation.rule, violation);
    }
    for (const [rule, violation] of found) {
      times[rule] = (times[rule] ?? 0) + 1;
      if (!firstOf.has(rule)) firstOf.set(rule, { ...violation, seed });
    }
  }
  return { stories, broken: [...firstOf.values()], times };
}
