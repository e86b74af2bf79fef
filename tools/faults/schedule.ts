import { Chance } from '../../test/simulation/chance.js';
import { type Fault } from './fault.js';
import { FAULTS } from './faults/index.js';
import { type Act } from './story.js';

const SHARE_OF_PAIRS = 0.4;

/** Acts without end, all drawn from one seed: mostly one fault, now and then a replica and Redis at once. */
export function* schedule(seed: number): Generator<Act, never> {
  const chance = Chance.of(seed, 'schedule');
  const any = listed(FAULTS);
  const ofReplicas = listed(FAULTS.filter(({ side }) => side === 'replica'));
  const ofRedis = listed(FAULTS.filter(({ side }) => side === 'redis'));
  for (;;) {
    const faults = chance.happens(SHARE_OF_PAIRS)
      ? [chance.pick(ofReplicas), chance.pick(ofRedis)]
      : [chance.pick(any)];
    yield { faults, pauseMs: Math.round(chance.between(0, 2_500)) };
  }
}

function listed(faults: readonly Fault[]): [Fault, ...Fault[]] {
  const [first, ...others] = faults;
  if (first === undefined) throw new Error('there are faults to pick from');
  return [first, ...others];
}
