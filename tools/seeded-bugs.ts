import { THEMES } from '../test/simulation/themes.js';
import { type Bug, type Cast, type Hunt } from './seeded-bugs/bug.js';
import { BUGS } from './seeded-bugs/bugs.js';
import { huntBug, huntIn } from './seeded-bugs/hunt.js';
import { report, SEEN_FROM_OUTSIDE, tally } from './seeded-bugs/report.js';
import { Sandboxes } from './seeded-bugs/sandbox.js';
import { twoAtATime } from './seeded-bugs/two-at-a-time.js';

/**
 * `npm run seeded-bugs [-- <name of a bug> …]`: puts each known mistake into a copy of the library and looks whether the
 * simulation notices; then plays the library as it is, and both versions of the original.
 */
const STORIES = 100;
const sandboxes = await Sandboxes.make('report');
const names = process.argv.slice(2);
const bugs = names.length === 0 ? BUGS : named(names);
const caught = await seekBugs(bugs);
const isSound = names.length > 0 || (await playTheRest());
console.log(`caught ${caught} of ${bugs.length}`);
if (caught < bugs.length || !isSound) process.exitCode = 1;

function named(wanted: readonly string[]): readonly Bug[] {
  const unknown = wanted.filter((name) => !BUGS.some((bug) => bug.name === name));
  if (unknown.length === 0) return BUGS.filter(({ name }) => wanted.includes(name));
  throw new Error(`there is no '${unknown.join("', '")}', but ${BUGS.map(({ name }) => name).join(', ')}`);
}

/** Answers how many were caught. */
async function seekBugs(wanted: readonly Bug[]): Promise<number> {
  let count = 0;
  const hunts = twoAtATime(wanted.map((bug) => async () => ({ bug, found: await huntBug(bug, sandboxes) })));
  for (const hunt of hunts) {
    const { bug, found } = await hunt;
    console.log(`${report(bug, found)}\n`);
    if (found.broken.some(({ rule }) => rule === bug.breaks)) count += 1;
  }
  return count;
}

/** Answers whether the library as it is kept its promises. */
async function playTheRest(): Promise<boolean> {
  const play = (what: string, theme: Hunt['theme'], cast: Cast) => async () => {
    const found = await huntIn(sandboxes.sound, { theme, first: 1, count: STORIES }, cast);
    if (cast !== 'library') return { text: tally(what, found, SEEN_FROM_OUTSIDE), isSound: true };
    return { text: tally(what, found), isSound: found.broken.length === 0 };
  };
  const plays = twoAtATime([
    ...THEMES.map((theme) => play(`the library as it is, stories about '${theme}'`, theme, 'library')),
    play('version 1.0.0 of the original', 'faults', '1.0.0'),
    play('the main branch of the original', 'faults', 'main'),
  ]);
  let all = true;
  for (const played of plays) {
    const { text, isSound } = await played;
    console.log(`${text}\n`);
    all &&= isSound;
  }
  return all;
}
