import { type Fault, type Field, happened, outliveLease, victim } from '../fault.js';
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
    await replace(field, strange, DAY_MS);
    const { name } = strange.replica;
    for (const other of others) await replace(field, other);
    const runs = fleet.witness.record.filter(({ event, replica }) => event === 'runBegan' && replica === name);
    happened('it ran something', runs.length > 0);
    await replace(field, strange);
  },
};

async function replace({ fleet }: Field, slot: Field['fleet']['slots'][number], wallAheadMs = 0): Promise<void> {
  await slot.replica.terminate();
  slot.start({ wallAheadMs });
  await fleet.until('the new replica hears', () => slot.proxy.serves);
  await fleet.calm();
}
