import { type Fault, type Field, happened, outliveLease, victim } from '../fault.js';
import { GRACEFUL, LEASE, LOCK_EXPIRY_MS, SHUTDOWN_TIMEOUT_MS } from '../settings.js';

const BUSY_MS = 4_000;

export const KILL: Fault = {
  name: 'leader killed (SIGKILL)',
  bound: LEASE,
  side: 'replica',
  strike: async (field) => {
    const slot = victim(field);
    const { signal } = await slot.replica.kill();
    happened('the leader was killed', signal === 'SIGKILL');
    // by those that are left: one that starts would ask at once
    await field.fleet.takenOver();
    slot.start();
  },
};

/** One replica after the other is asked to stop and replaced, as in a deploy. */
export const ROLLING: Fault = {
  name: 'rolling deploy (SIGTERM)',
  bound: GRACEFUL,
  strike: async ({ fleet }) => {
    for (const slot of fleet.slots) {
      const askedAt = performance.now();
      const { code, signal } = await slot.replica.terminate();
      happened('the replica stopped by itself', code === 0 || signal === 'SIGTERM');
      happened('it stopped in time', performance.now() - askedAt < SHUTDOWN_TIMEOUT_MS + BUSY_MS);
      slot.start();
      await fleet.until('the new replica hears', () => slot.proxy.serves);
    }
  },
};

function itNotices({ fleet }: Field, replica: string): Promise<unknown> {
  return fleet.witness.next(
    'it notices that it stood still',
    ({ event, replica: name, blockedMs = 0 }) =>
      event === 'loopBlocked' && name === replica && blockedMs > LOCK_EXPIRY_MS,
  );
}

export const STOPPED: Fault = {
  name: 'leader stands still (SIGSTOP) past its lease',
  bound: LEASE,
  side: 'replica',
  strike: async (field) => {
    const { replica } = victim(field);
    const noticed = itNotices(field, replica.name);
    replica.stop();
    await outliveLease(field);
    replica.resume();
    await noticed;
  },
};

export const BLOCKED: Fault = {
  name: 'event loop blocked past the lease',
  bound: LEASE,
  side: 'replica',
  strike: async (field) => {
    const { replica } = victim(field);
    const noticed = itNotices(field, replica.name);
    replica.order({ command: 'block', forMs: field.chance.between(1.4, 2) * LOCK_EXPIRY_MS });
    await noticed;
  },
};
