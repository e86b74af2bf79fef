import { parseArgs } from 'node:util';
import { drawPlan } from '../simulation.js';
import { playAndPrint } from './play-and-print.js';
import { replay, shrinkAndPrint } from './replay.js';

/**
 * `npm run simulate -- --seeds 100000 --first 1`: plays that many scenarios in all cores.
 * `npm run simulate -- --replay 4711`: prints the scenario of one seed. `--shrink 4711`: reduces it to what matters.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    first: { type: 'string', default: '1' },
    replay: { type: 'string' },
    shrink: { type: 'string' },
  },
});

const isGood =
  values.replay !== undefined
    ? await replay(drawPlan(whole('replay', values.replay)))
    : values.shrink !== undefined
      ? await shrinkAndPrint(drawPlan(whole('shrink', values.shrink)))
      : await playAndPrint({ first: whole('first', values.first), count: whole('seeds', values.seeds) });
if (!isGood) process.exitCode = 1;

function whole(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) throw new Error(`--${name} must be a whole number, got '${text}'`);
  return number;
}
