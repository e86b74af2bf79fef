import { deepEqual, equal, ok } from 'node:assert/strict';
import { ttlOf, type SyncRequest, type SyncResult } from '../../store/store.js';
import { type RuleContext, type Rules } from './rule-context.js';
import { A, B, until, LONG_MS, NAME, SHORT_MS } from './suite-client.js';

const SHORT = `a.2@${String(SHORT_MS)}`;
const ODD = 'eu.1@pod ü"x":{y}%s\\.1@60000';

/** In the other project, where no replica has a lease yet. */
export const INCARNATION: Rules = {
  'is not noted by a request that keeps no lease, nor by one of another project': async ({ connectElsewhere }) => {
    const a = await connectElsewhere();
    for (const request of [{ isNewcomer: true, read: [NAME] }, { isNewcomer: true, revoke: [A] }, {}])
      equal((await a.sync(request)).incarnation.id, '');
  },

  'is noted by the first request that keeps one, and stays so for all': (context) =>
    isNoted(context, { isNewcomer: false, renew: [A] }),
  'is the first if the request that notes it is of a newcomer': (context) =>
    isNoted(context, { isNewcomer: true, grant: [A] }),
};

async function isNoted({ connectElsewhere, passTime }: RuleContext, request: Partial<SyncRequest>): Promise<void> {
  const [a, b] = [await connectElsewhere(), await connectElsewhere()];
  const { time: before } = await a.sync();
  await passTime(2);
  const { time, incarnation } = await a.sync(request);
  const { id, since, isFirst } = incarnation;
  ok(before < since && since <= time && id.endsWith(`/${String(since)}`), `${id}: ${String(since)}`);
  equal(isFirst, request.isNewcomer);
  await passTime(2);
  for (const later of [{}, { renew: [A] }, { isNewcomer: !isFirst, grant: [B] }]) {
    for (const replica of [a, b]) deepEqual((await replica.sync(later)).incarnation, incarnation);
  }
}

export const RESTART: Rules = {
  'makes another incarnation, which is not the first, and refuses old writes': async ({ fixture, a, b, passTime }) => {
    const record = await a.put();
    const { incarnation: before } = await a.sync();
    const late = async () => [await a.write('{}', record, { incarnation: before.id })];
    await passTime(2);
    await fixture.restart?.();
    deepEqual(await until('an answer before a sync', late), [undefined]);
    const { incarnation } = await until('b is answered', () => b.sync({ isNewcomer: true, grant: [B] }));
    ok(incarnation.id !== before.id && incarnation.since > before.since && !incarnation.isFirst);
    const after = await a.sync({ renew: [A], read: [NAME] });
    deepEqual([after.incarnation, after.records, await late()], [incarnation, [record], [undefined]]);
    await a.put('{}', record);
  },

  'makes the incarnation empty until a request that keeps a lease notes another': async ({ fixture, a, b }) => {
    const { incarnation: before } = await a.sync();
    await fixture.restart?.();
    const answer = await until('it is answered', () => a.sync({ revoke: [B], read: [NAME] }));
    equal(answer.incarnation.id, '');
    const { incarnation } = await until('b is answered', () => b.sync({ grant: [B] }));
    ok(!['', before.id].includes(incarnation.id));
    deepEqual((await a.sync()).incarnation, incarnation);
  },
};

export const DATA_LOSS: Rules = {
  'makes another incarnation, which is empty, and refuses old writes': async ({ fixture, a, b, passTime }) => {
    const [{ incarnation: before }] = [await a.sync(), await a.put()];
    for (const isNewcomer of [true, false]) {
      await passTime(5);
      await fixture.loseData?.();
      deepEqual([await a.write(), (await b.sync()).incarnation.id], [undefined, '']);
      const { incarnation, leases, records } = await b.sync({ isNewcomer, renew: [A], grant: [B], read: [NAME] });
      ok(incarnation.id !== before.id && incarnation.since > before.since);
      deepEqual([incarnation.isFirst, [...leases.keys()], records], [isNewcomer, [B], [undefined]]);
      equal(await a.write(), undefined);
    }
  },
};

function remaining({ leases }: SyncResult, lease: string): number {
  const ms = leases.get(lease) ?? 0;
  ok(ms > 0 && ms <= ttlOf(lease), `'${lease}' lives for ${String(ms)} ms`);
  return ms;
}

export const LEASE: Rules = {
  'lives for the TTL in its id, from its newest grant or renewal': async ({ a, passTime }) => {
    let left = 0;
    for (const request of [{ grant: [B, SHORT] }, { renew: [B] }, { grant: [B] }]) {
      const full = remaining(await a.sync(request), B);
      await passTime(100);
      ok(full > left && full > LONG_MS - 10_000, `${String(full)} ms after ${String(left)} ms`);
      left = remaining(await a.sync(), B);
      ok(left <= LONG_MS - 50, `${String(left)} ms after 100 ms`);
    }
  },

  'is in each answer to each replica of its project, and of no other': async ({ a, b, connectElsewhere }) => {
    const elsewhere = await connectElsewhere();
    const all = [A, B, ODD, ...Array.from({ length: 200 }, (_, i) => `eu.1@pod-${String(i)}.1@10000`)].sort();
    deepEqual(await b.leases({ grant: all.slice(1) }), all);
    deepEqual(await elsewhere.leases({ grant: [B] }), [B]);
    deepEqual([await a.leases(), await a.leases({ renew: [A] })], [all, all]);
  },

  'ends when it is revoked, is not made again by a renewal, and no other ends': async ({ a, b }) => {
    await b.sync({ grant: [B, ODD] });
    deepEqual(await b.leases({ renew: [ODD], revoke: [B, 'unknown.1@1000'] }), [A, ODD]);
    deepEqual(await a.leases({ renew: [A], grant: [A], revoke: [A] }), [ODD]);
    deepEqual([await b.leases({ renew: [B] }), await a.leases({ renew: [A] })], [[ODD], [ODD]]);
  },

  'is gone at its end for each replica, and is not renewed any more': async ({ a, b, passTime }) => {
    for (const leases of [() => b.leases(), () => a.leases({ renew: [A, SHORT] })]) {
      remaining(await a.sync({ grant: [SHORT] }), SHORT);
      await passTime(SHORT_MS + 20);
      deepEqual(await leases(), [A]);
    }
    deepEqual([await a.leases({ renew: [SHORT] }), await b.leases()], [[A], [A]]);
  },
};

export const CLOCK_SET_BACK: Rules = {
  'shortens a lease that would live longer than its TTL': async ({ fixture, a, b, passTime }) => {
    await a.sync({ grant: [SHORT] });
    await fixture.setClockBack?.(60_000);
    remaining(await b.sync(), SHORT);
    await passTime(SHORT_MS + 20);
    deepEqual(await b.leases(), [A]);
  },

  'makes no revision smaller': async ({ fixture, a }) => {
    const record = await a.put();
    await fixture.setClockBack?.(60_000);
    equal((await a.put('{}', record)).revision, record.revision + 1);
  },
};
