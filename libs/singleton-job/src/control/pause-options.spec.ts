import { expect, it } from '@jest/globals';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { readPause } from './pause-options.js';

const NOW = Date.UTC(2027, 0, 1);
const TIME = "must be a Date within the next ten years, or a duration such as '2h'";

it.each<[unknown, unknown]>([
  [{}, {}],
  [
    { until: '2h', reason: ' a\n migration ' },
    { until: NOW + 7_200_000, reason: 'a migration' },
  ],
  [{ until: new Date(NOW + 1), reason: '' }, { until: NOW + 1 }],
])('A pause is %j as it is wanted', (options, wanted) => {
  expect(readPause(options, 'pause()', NOW)).toEqual(wanted);
});

it.each<[unknown, readonly unknown[]]>([
  [
    { until: new Date(NOW), reason: 'x'.repeat(201), unit: 's' },
    [
      "unit is no option here: did you mean 'until'?",
      `until ${TIME}, got 2027-01-01T00:00:00.000Z: look where it is made`,
      expect.stringMatching(/^reason must be a text of at most 200 characters, got 'x+…': shorten it$/),
    ],
  ],
  [{ until: new Date('x') }, [`until ${TIME}, got an invalid Date: look where it is made`]],
  [{ until: new Date(8.64e15) }, [expect.stringContaining('got +275760-09-13T00:00:00.000Z')]],
  [{ until: 'tomorrow' }, [expect.stringMatching(/^until must be a Date .*, got 'tomorrow': write it as/)]],
  [{ until: 0 }, ['until must be at least 1ms, got 0ms: raise it']],
  [{ until: NOW }, [expect.stringMatching(/^until must be at most 3650d, got \d+/)]],
  [{ reason: 5 }, ['reason must be a text of at most 200 characters, got 5: write String(5)']],
  ['2h', ["options must be an object, got '2h': write { until: '2h' }"]],
])('A pause with mistakes has one error with all of them: %j', (options, problems) => {
  let thrown: unknown;
  try {
    readPause(options, 'pause()', NOW);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(InvalidOptionsError);
  expect(thrown).toMatchObject({ problems, message: expect.stringMatching(/^pause\(\) cannot use these options/) });
});
