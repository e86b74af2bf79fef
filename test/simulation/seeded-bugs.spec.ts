import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyEdit } from '../../tools/seeded-bugs/apply-edit.js';
import { type Catch, type Hunt } from '../../tools/seeded-bugs/bug.js';
import { BUGS } from '../../tools/seeded-bugs/bugs.js';
import { huntBug, huntIn } from '../../tools/seeded-bugs/hunt.js';
import { Sandboxes } from '../../tools/seeded-bugs/sandbox.js';
import { twoAtATime } from '../../tools/seeded-bugs/two-at-a-time.js';
import { THEMES } from './themes.js';

/** Two at a time they take most of a minute, and longer on a busy machine. */
const LIMIT_MS = 400_000;

describe('The simulation', () => {
  let sandboxes: Sandboxes;
  let hunts: readonly Promise<Catch>[] = [];

  beforeAll(async () => {
    sandboxes = await Sandboxes.make(`spec-${process.pid}`);
    hunts = twoAtATime(BUGS.map((bug) => () => huntBug(bug, sandboxes)));
  });

  afterAll(async () => {
    await Promise.allSettled(hunts);
    await sandboxes.remove();
  }, LIMIT_MS);

  const play = (hunt: Partial<Hunt>, cast?: '1.0.0' | 'main'): Promise<Catch> =>
    huntIn(sandboxes.sound, { theme: 'faults', first: 1, count: 40, ...hunt }, cast);

  it.each(BUGS.map(({ mistake, breaks }, index) => ({ mistake, breaks, index })))(
    'notices when $mistake',
    async ({ index, breaks }) => {
      const found = await hunts[index];
      expect(found?.broken.map(({ rule }) => rule)).toContain(breaks);
    },
    LIMIT_MS,
  );

  it.each(THEMES)(
    "finds nothing in the library as it is, in stories about '%s'",
    async (theme) => {
      const found = await play({ theme });
      expect(found.broken).toEqual([]);
      expect(found.stories).toBe(40);
    },
    LIMIT_MS,
  );

  it(
    'finds in version 1.0.0 of the original runs at once, occurrences started twice, and such as nobody hears of',
    async () => {
      const { times } = await play({ count: 20 }, '1.0.0');
      expect(Object.keys(times)).toEqual(
        expect.arrayContaining(['overlap', 'start-without-lock', 'started-twice', 'lost-in-silence']),
      );
    },
    LIMIT_MS,
  );
});

describe('A mistake', () => {
  const edit = { file: 'election/lease.ts', find: 'margin', replace: 'nothing' };

  it('replaces a text that a file has once', () => {
    expect(applyEdit('a margin of time', edit)).toBe('a nothing of time');
  });

  it.each([
    ['is gone', 'no such word', 'has it 0 times'],
    ['has become ambiguous', 'margin and margin', 'has it 2 times'],
  ])('says so when its text %s', (_why, text, words) => {
    expect(() => applyEdit(text, edit)).toThrow(words);
    expect(() => applyEdit(text, edit)).toThrow('election/lease.ts must have this text exactly once');
  });
});
