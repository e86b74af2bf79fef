import { parseArgs } from 'node:util';
import { drawPlan, type Plan } from '../test/simulation/simulation.js';
import { drawThemed, THEMES } from '../test/simulation/themes.js';
import { playAndPrint } from './simulate/play-and-print.js';
import { replay, shrinkAndPrint } from './simulate/replay.js';

/**
 * `npm run simulate -- --seeds 100000 --first 1`: plays that many stories in all cores.
 * With `--data-loss` the store may forget everything as well.
 * `npm run simulate -- --replay 4711`: tells the story of one seed, drawn with `--data-loss` or about `--theme failovers` as it
 * was found. `--shrink 4711`: leaves out what does not matter.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    first: { type: 'string', default: '1' },
    replay: { type: 'string' },
    shrink: { type: 'string' },
    'data-loss': { type: 'boolean', default: false },
    theme: { type: 'string' },
  },
});

const perils = { dataLoss: values['data-loss'] };

const isGood =
  values.replay !== undefined
    ? await replay(story(whole('replay', values.replay)))
    : values.shrink !== undefined
      ? await shrinkAndPrint(story(whole('shrink', values.shrink)))
      : await playAndPrint({ first: whole('first', values.first), count: whole('seeds', values.seeds), perils });
if (!isGood) process.exitCode = 1;

function story(seed: number): Plan {
  const theme = THEMES.find((name) => name === values.theme);
  if (theme !== undefined) return drawThemed(theme, seed).plan;
  if (values.theme === undefined) return drawPlan(seed, perils);
  throw new Error(`--theme must be one of ${THEMES.join(', ')}, got '${values.theme}'`);
}

function whole(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) throw new Error(`--${name} must be a whole number, got '${text}'`);
  return number;
}
