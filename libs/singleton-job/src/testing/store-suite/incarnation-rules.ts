import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { type Rules } from './rule-context.js';
import { answered } from './suite-client.js';

const [A, B] = ['a.1@600000', 'b.1@600000'];
const NAME = 'price-tick:lock';

export const INCARNATION: Rules = {
  'is not noted by a request that keeps no lease': async ({ connect }) => {
    const a = await connect();
    for (const request of [{}, { isNewcomer: true, read: [NAME] }, { isNewcomer: true, revoke: [A] }, {}]) {
      const { incarnation } = await a.sync(request);
      deepEqual([incarnation.id, incarnation.isFirst], ['', false]);
    }
  },

  'is noted by the first grant, at that time': async ({ connect, passTime }) => {
    const [a, b] = [await connect(), await connect()];
    const { time: before } = await a.sync();
    await passTime(2);
    const { time, incarnation } = await a.grant(A);
    ok(
      incarnation.since > before && incarnation.since <= time,
      `${String(incarnation.since)} is not the time of the request`,
    );
    ok(incarnation.id.endsWith(`/${String(incarnation.since)}`), incarnation.id);
    const { incarnation: seen } = await b.sync();
    deepEqual(seen, incarnation);
  },

  'is noted by a renewal too, also of a lease that is absent': async ({ connect }) => {
    const a = await connect();
    const { incarnation } = await a.sync({ renew: [A] });
    notEqual(incarnation.id, '');
    deepEqual((await a.sync()).incarnation, incarnation);
  },

  'is first if a newcomer noted it, and stays so': async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    const { incarnation } = await a.sync({ isNewcomer: true, grant: [A] });
    equal(incarnation.isFirst, true);
    deepEqual((await b.sync({ isNewcomer: false, grant: [B] })).incarnation, incarnation);
  },

  'is not first if a replica noted it that has met another, and stays so': async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    const { incarnation } = await a.sync({ isNewcomer: false, grant: [A] });
    equal(incarnation.isFirst, false);
    deepEqual((await b.sync({ isNewcomer: true, grant: [B] })).incarnation, incarnation);
  },

  'stays the same while the server does': async ({ connect, passTime }) => {
    const a = await connect();
    const { incarnation } = await a.grant(A);
    await passTime(2);
    deepEqual((await a.sync({ renew: [A] })).incarnation, incarnation);
    await a.store.close();
    const b = await connect();
    deepEqual((await b.grant(B)).incarnation, incarnation);
  },

  'is one for each project': async ({ connect, connectElsewhere }) => {
    const [a, elsewhere] = [await connect(), await connectElsewhere()];
    await a.grant(A);
    equal((await elsewhere.sync()).incarnation.id, '');
  },
};

export const RESTART: Rules = {
  'makes another incarnation, which is not the first': async ({ fixture, connect, passTime }) => {
    const [a, b] = [await connect(), await connect()];
    const { incarnation: before } = await a.grant(A);
    await passTime(2);
    await fixture.restart?.();
    const { incarnation } = await answered(() => b.sync({ isNewcomer: true, grant: [B] }));
    notEqual(incarnation.id, before.id);
    ok(incarnation.since > before.since);
    equal(incarnation.isFirst, false);
    deepEqual((await answered(() => a.sync({ renew: [A] }))).incarnation, incarnation);
  },

  'is noted only by a request that keeps a lease': async ({ fixture, connect }) => {
    const a = await connect();
    const { incarnation } = await a.grant(A);
    await fixture.restart?.();
    deepEqual((await answered(() => a.sync({ revoke: [B], read: [NAME] }))).incarnation, incarnation);
    notEqual((await a.sync({ renew: [A] })).incarnation.id, incarnation.id);
  },

  'keeps the records': async ({ fixture, connect }) => {
    const a = await connect();
    await a.grant(A);
    const revision = await a.put(NAME);
    await fixture.restart?.();
    deepEqual(await answered(() => a.read(NAME)), { revision, value: '{}' });
  },

  'refuses each write of the incarnation before it': async ({ fixture, connect }) => {
    const a = await connect();
    const { incarnation: before } = await a.grant(A);
    const revision = await a.put(NAME);
    const write = { name: NAME, ifRevision: revision, value: '{"late":true}' };
    await fixture.restart?.();
    // the new server has been noted by nobody yet
    equal(await answered(async () => [await a.write(write)]).then(([written]) => written), undefined);
    await a.sync({ renew: [A] });
    equal(await a.write(write, { incarnation: before.id }), undefined);
    deepEqual(await a.read(NAME), { revision, value: '{}' });
    await a.put(NAME, revision);
  },
};

export const DATA_LOSS: Rules = {
  'makes another incarnation, and leases and records are gone': async ({ fixture, connect, passTime }) => {
    const [a, b] = [await connect(), await connect()];
    const { incarnation: before } = await a.grant(A);
    await a.put(NAME);
    await passTime(5);
    await fixture.loseData?.();
    const { incarnation, leases, records } = await b.sync({ renew: [A], grant: [B], read: [NAME] });
    notEqual(incarnation.id, before.id);
    ok(incarnation.since > before.since);
    equal(incarnation.isFirst, false);
    deepEqual([...leases.keys()], [B]);
    deepEqual(records, [undefined]);
  },

  'looks like a first start to a newcomer': async ({ fixture, connect, passTime }) => {
    const [a, b] = [await connect(), await connect()];
    await a.sync({ grant: [A] });
    await passTime(5);
    await fixture.loseData?.();
    equal((await b.sync()).incarnation.id, '');
    equal((await b.grant(B)).incarnation.isFirst, true);
  },

  'refuses each write of the incarnation before it': async ({ fixture, connect, passTime }) => {
    const a = await connect();
    const { incarnation: before } = await a.grant(A);
    const write = { name: NAME, ifRevision: 0, value: '{}' };
    await passTime(5);
    await fixture.loseData?.();
    equal(await a.write(write), undefined);
    await a.grant(A);
    equal(await a.write(write, { incarnation: before.id }), undefined);
    await a.put(NAME);
  },
};
