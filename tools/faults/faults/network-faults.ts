import { type Fault, type Field, happened, hindering, outliveLease, victim } from '../fault.js';
import { type Proxy } from '../proxy.js';
import { BACK, type Bound, LEASE } from '../settings.js';
import { type Slot } from '../slot.js';
import { type Weather } from '../weather.js';

/** One leader and its way to Redis, for longer than its lease. */
function cut(name: string, begin: (proxy: Proxy) => void): Fault {
  return {
    name: `leader cut off: ${name}`,
    bound: LEASE,
    side: 'replica',
    strike: async (field) => {
      await disturb(field, [victim(field)], begin);
    },
  };
}

async function disturb(field: Field, slots: readonly Slot[], begin: (proxy: Proxy) => void): Promise<void> {
  const proxies = slots.map(({ proxy }) => proxy);
  const before = proxies.map(({ disturbed }) => disturbed);
  const spell = async (): Promise<void> => {
    for (const proxy of proxies) begin(proxy);
    await outliveLease(field);
    for (const proxy of proxies) proxy.heal();
  };
  await hindering(field, spell, slots);
  const disturbed = proxies.filter((proxy, index) => proxy.disturbed > (before[index] ?? 0));
  happened('messages were disturbed on each way', disturbed.length === proxies.length);
}

function weather(kind: Weather): (proxy: Proxy) => void {
  return (proxy) => {
    proxy.weather = kind;
  };
}

function slow(delayMs: number): (proxy: Proxy) => void {
  return (proxy) => {
    proxy.delayMs = delayMs;
  };
}

export const HALF_OPEN = cut('half-open connection', weather('stalled'));
export const REQUESTS_LOST = cut('requests lost', weather('requests-lost'));
export const ANSWERS_LOST = cut('answers lost', weather('answers-lost'));
export const REFUSED = cut('connections refused', (proxy) => {
  proxy.refuse();
});
/** Within the time that is waited for an answer. */
export const SLOW = cut('slow answers, 0.3 s', slow(150));
/** Beyond it: every answer is late. */
export const TOO_SLOW = cut('late answers, 0.8 s', slow(400));

export const RESET: Fault = {
  name: 'connections of a leader reset',
  bound: LEASE,
  side: 'replica',
  strike: (field) => {
    const open = victim(field).proxy.reset();
    happened('connections were reset', open > 0);
    return Promise.resolve();
  },
};

function allCut(name: string, bound: Bound, kind: Weather): Fault {
  return {
    name,
    bound,
    strike: async (field) => {
      await disturb(field, field.fleet.slots, weather(kind));
      field.since();
    },
  };
}

/** What was held back arrives, late, when it heals. */
export const ALL_HALF_OPEN = allCut('all replicas cut off: half-open', BACK, 'stalled');
export const ALL_ANSWERS_LOST = allCut('all replicas cut off: answers lost', BACK, 'answers-lost');
