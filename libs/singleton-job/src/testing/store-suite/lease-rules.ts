import { deepEqual, ok } from 'node:assert/strict';
import { lifeOf } from '../../store/store.js';
import { type Rules } from './rule-context.js';
import { LONG_MS, SHORT_MS } from './suite-client.js';

const [A, B] = [`a.1@${String(LONG_MS)}`, `b.1@${String(LONG_MS)}`];
const SHORT = `a.2@${String(SHORT_MS)}`;

function lives(leases: ReadonlyMap<string, number>, lease: string, { atLeast = 1 } = {}): void {
  const remaining = leases.get(lease) ?? 0;
  ok(
    remaining >= atLeast && remaining <= lifeOf(lease),
    `'${lease}' lives for ${String(remaining)} ms, not for ${String(atLeast)} to ${String(lifeOf(lease))}`,
  );
}

export const LEASE: Rules = {
  'lives for the life in its id from its grant': async ({ connect }) => {
    const a = await connect();
    const { leases } = await a.grant(A, SHORT);
    lives(leases, A, { atLeast: LONG_MS - 1_000 });
    lives(leases, SHORT);
  },

  'lives shorter each moment, until it is renewed or granted again': async ({ connect, passTime }) => {
    const a = await connect();
    await a.grant(A);
    for (const request of [{ renew: [A] }, { grant: [A] }]) {
      await passTime(100);
      const { leases: before } = await a.sync();
      const remaining = before.get(A) ?? 0;
      ok(remaining <= LONG_MS - 50, String(remaining));
      const { leases } = await a.sync(request);
      lives(leases, A, { atLeast: remaining + 1 });
    }
  },

  'is in each answer to each replica of the project, with all others': async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    const others = Array.from({ length: 200 }, (_, i) => `eu.1@pod-${String(i)}.1@10000`);
    await a.grant(A, 'ü "x":{y}%s\\.1@60000');
    await b.grant(...others, B);
    const all = [A, B, 'ü "x":{y}%s\\.1@60000', ...others].sort();
    deepEqual(await a.leases(), all);
    const { leases } = await b.sync({ renew: [B] });
    deepEqual([...leases.keys()].sort(), all);
  },

  'is not in an answer to another project': async ({ connect, connectElsewhere }) => {
    const [a, elsewhere] = [await connect(), await connectElsewhere()];
    await a.grant(A);
    await elsewhere.grant(B);
    deepEqual([await a.leases(), await elsewhere.leases()], [[A], [B]]);
  },

  'is not made by a renewal': async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    await a.grant(A);
    const { leases } = await b.sync({ renew: [B] });
    deepEqual([...leases.keys()], [A]);
    deepEqual(await a.leases(), [A]);
  },

  'ends when it is revoked, and no other does': async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    await a.grant(A, SHORT.replace(String(SHORT_MS), '60000'));
    await b.grant(B);
    const { leases } = await a.sync({ revoke: [A, 'unknown.1@1000'] });
    deepEqual([...leases.keys()].sort(), ['a.2@60000', B]);
    deepEqual(await b.leases(), ['a.2@60000', B]);
  },

  'ends when one request renews, grants and revokes it': async ({ connect }) => {
    const a = await connect();
    await a.grant(A);
    const { leases } = await a.sync({ renew: [A], grant: [A, B], revoke: [A] });
    deepEqual([...leases.keys()], [B]);
  },

  'is gone at its end, and no renewal makes it live again': async ({ connect, passTime }) => {
    const [a, b] = [await connect(), await connect()];
    await a.grant(SHORT, A);
    await passTime(SHORT_MS + 20);
    const { leases } = await a.sync({ renew: [SHORT, A] });
    deepEqual([...leases.keys()], [A]);
    await a.sync({ renew: [SHORT] });
    deepEqual(await b.leases(), [A]);
  },

  'is removed at its end by the request of another replica too': async ({ connect, passTime }) => {
    const [a, b] = [await connect(), await connect()];
    await a.grant(SHORT);
    await passTime(SHORT_MS + 20);
    deepEqual(await b.leases(), []);
    const { leases } = await a.sync({ renew: [SHORT] });
    deepEqual([...leases.keys()], []);
  },
};

export const CLOCK_SET_BACK: Rules = {
  'shortens a lease that would live longer than its life': async ({ fixture, connect, passTime }) => {
    const [a, b] = [await connect(), await connect()];
    await a.grant(SHORT);
    await fixture.setClockBack?.(60_000);
    const { leases } = await b.sync();
    lives(leases, SHORT);
    await passTime(SHORT_MS + 20);
    deepEqual(await b.leases(), []);
  },

  'makes no revision smaller': async ({ fixture, connect }) => {
    const a = await connect();
    await a.grant(A);
    const revision = await a.put('price-tick:lock');
    await fixture.setClockBack?.(60_000);
    await a.sync();
    deepEqual(await a.put('price-tick:lock', revision), revision + 1);
  },
};
