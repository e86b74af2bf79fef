import { type Rule } from '../../test/support/checker.js';
import { type Bug, type Catch } from './bug.js';

/** What can be held against whoever runs jobs. The other rules ask for what the original never had, such as fencing tokens. */
export const SEEN_FROM_OUTSIDE: readonly Rule[] = ['overlap', 'start-without-lock', 'started-twice', 'lost-in-silence'];

/** The row of a bug: where it was caught, by which rule, and the lines of the history that show it. */
export function report({ name, mistake, breaks, hunt }: Bug, { stories, broken }: Catch): string {
  const first = broken.find(({ rule }) => rule === breaks);
  const head = `${name.padEnd(30)} ${mistake}`;
  if (first === undefined) return `${head}\n    GOT AWAY in ${stories} stories`;
  const { rule, seed, evidence } = first;
  return [head, `    ${rule}, seed ${seed} of '${hunt.theme}', story ${stories}`, ...indented(evidence, 6)].join('\n');
}

/** How often each of these rules was broken, and the first evidence of each. @default all rules */
export function tally(name: string, { stories, broken, times }: Catch, rules?: readonly Rule[]): string {
  const lines = broken
    .filter(({ rule }) => rules?.includes(rule) ?? true)
    .toSorted((a, b) => (times[b.rule] ?? 0) - (times[a.rule] ?? 0))
    .flatMap(({ rule, seed, evidence }) => [
      `  ${rule} in ${times[rule] ?? 0} stories, first in that of seed ${seed}:`,
      ...indented(evidence, 4),
    ]);
  const head = `${name}, ${stories} stories:`;
  return lines.length === 0 ? `${head} nothing was broken` : [head, ...lines].join('\n');
}

function indented(text: string, by: number): string[] {
  return text.split('\n').map((line) => `${' '.repeat(by)}${line}`);
}
