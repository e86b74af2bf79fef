import { type Fault, type Field, outliveLease, victim } from '../fault.js';
import { GRACEFUL } from '../settings.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

function step(name: string, leastMs: number, mostMs: number): Fault {
  return {
    name: `wall clock of a leader ${name}, and back`,
    bound: GRACEFUL,
    side: 'replica',
    strike: async (field) => {
      const { replica } = victim(field);
      const byMs = Math.round(field.chance.between(leastMs, mostMs));
      for (const by of [byMs, -byMs]) {
        const stepped = field.fleet.witness.next(
          'its clock was stepped',
          ({ event, replica: name }) => event === 'stepped' && name === replica.name,
        );
        replica.order({ command: 'step', byMs: by });
        await stepped;
        await outliveLease(field);
      }
    },
  };
}

export const AHEAD = step('steps ahead', 2_000, 20_000);
export const BEHIND = step('steps back', -20_000, -2_000);

/** One replica whose clock is a day ahead takes part, leads what the others hand over, and is replaced. */
export const A_DAY_AHEAD: Fault = {
  name: 'replica whose clock is a day ahead',
  bound: GRACEFUL,
  strike: async (field) => {
    const { fleet } = field;
    const [strange, ...others] = fleet.slots;
    if (strange === undefined) throw new Error('a fleet has replicas');
    await replace(field, [strange], DAY_MS);
    const { name } = strange.replica;
    await replace(field, others, 0, async () => {
      await fleet.takenOver();
      await fleet.until('it runs something', () =>
        fleet.witness.record.some(({ event, replica }) => event === 'runBegan' && replica === name),
      );
    });
    await replace(field, [strange]);
  },
};

/** Stops replicas, and starts others in their places once what is to be seen without them was. */
async function replace(
  { fleet }: Field,
  slots: Field['fleet']['slots'],
  wallAheadMs = 0,
  without = () => Promise.resolve(),
): Promise<void> {
  for (const { replica } of slots) await replica.terminate();
  await without();
  for (const slot of slots) slot.start({ wallAheadMs });
  await fleet.until('the new replicas hear', () => slots.every(({ proxy }) => proxy.serves));
  await fleet.calm();
}
