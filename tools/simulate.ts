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

const { theme } = values;
const isOfOneStory = values.replay !== undefined || values.shrink !== undefined;
if (theme !== undefined && (!isOfOneStory || values['data-loss']))
  throw new Error('--theme is of one story, told by --replay or --shrink, and says by itself what Redis may lose');

const perils = { dataLoss: values['data-loss'] };

const isGood =
  values.replay !== undefined
    ? await replay(story(whole('replay', values.replay)))
    : values.shrink !== undefined
      ? await shrinkAndPrint(story(whole('shrink', values.shrink)))
      : await playAndPrint({ first: whole('first', values.first), count: whole('seeds', values.seeds), perils });
if (!isGood) process.exitCode = 1;

function story(seed: number): Plan {
  if (theme === undefined) return drawPlan(seed, perils);
  const known = THEMES.find((name) => name === theme);
  if (known !== undefined) return drawThemed(known, seed).plan;
  throw new Error(`--theme must be one of ${THEMES.join(', ')}, got '${theme}'`);
}

function whole(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) throw new Error(`--${name} must be a whole number, got '${text}'`);
  return number;
}
