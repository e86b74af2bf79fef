import { deepEqual, equal, ok } from 'node:assert/strict';
import { type Rules } from './rule-context.js';
import { eventually, LONG_MS, SHORT_MS } from './suite-client.js';

const A = `a.1@${String(LONG_MS)}`;
const NAME = 'price-tick:lock';

const ODD_NAMES = [
  'Prices.import:lock',
  'order "4711":mutex',
  "it's; --:mutex",
  '{a}:b%s%d\\n\\:mutex',
  'leases:mutex',
  'zwei\nZeilen\tund mehr:mutex',
  'größe 東京 🚆:mutex',
  `${'long'.repeat(50)}:mutex`,
  'PRICE-TICK:lock',
  ' price-tick:lock ',
];

const ODD_VALUES = [
  '{}',
  '{"b":1,"a":2.50,  "c":1e3}',
  JSON.stringify({ text: 'größe 東京 🚆 "quoted" \'single\' \\ \n \r\n \t \u0000 \u2028 %s $1 :x ?' }),
  JSON.stringify({ empty: '', nothing: null, list: [], deep: { deep: [{}] }, big: Number.MAX_SAFE_INTEGER }),
  JSON.stringify({ error: 'x'.repeat(10_000) }),
];

export const RECORD: Rules = {
  'is answered in the order of the names, and undefined if it is absent': async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    await a.grant(A);
    const [one, two] = [await a.put('one:lock', 0, '1'), await a.put('two:lock', 0, '2')];
    const { records } = await b.sync({ read: ['two:lock', 'absent:lock', 'one:lock', 'two:lock'] });
    const [first, second] = [
      { revision: one, value: '1' },
      { revision: two, value: '2' },
    ];
    deepEqual(records, [second, undefined, first, second]);
  },

  'comes back as it was written': async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    await a.grant(A);
    let revision = 0;
    for (const value of ODD_VALUES) {
      revision = await a.put(NAME, revision, value);
      deepEqual(await b.read(NAME), { revision, value });
    }
  },

  'may have any name': async ({ connect }) => {
    const a = await connect();
    await a.grant(A);
    const values = ODD_NAMES.map((name) => JSON.stringify({ name }));
    const revisions = await a.writeAll(ODD_NAMES.map((name, i) => ({ name, ifRevision: 0, value: values[i] ?? '' })));
    const { records, leases } = await a.sync({ read: ODD_NAMES });
    deepEqual(
      records,
      values.map((value, i) => ({ revision: revisions[i], value })),
    );
    deepEqual([...leases.keys()], [A]);
  },

  'is one of a thousand in a request': async ({ connect }) => {
    const a = await connect();
    await a.grant(A);
    const names = Array.from({ length: 1_000 }, (_, i) => `job-${String(i)}:lock`);
    const revisions = await a.writeAll(names.map((name) => ({ name, ifRevision: 0, value: JSON.stringify({ name }) })));
    const { records } = await a.sync({ read: names });
    deepEqual(
      records,
      names.map((name, i) => ({ revision: revisions[i], value: JSON.stringify({ name }) })),
    );
  },

  'is of one project': async ({ connect, connectElsewhere }) => {
    const [a, elsewhere] = [await connect(), await connectElsewhere()];
    await a.grant(A);
    await elsewhere.grant(A);
    const revision = await a.put(NAME, 0, '1');
    equal(await elsewhere.read(NAME), undefined);
    await elsewhere.put(NAME, 0, '2');
    deepEqual(await a.read(NAME), { revision, value: '1' });
  },

  'stays when the lease of its writer ends': async ({ connect }) => {
    const a = await connect();
    await a.grant(A);
    const revision = await a.put(NAME);
    await a.sync({ revoke: [A] });
    deepEqual(await a.read(NAME), { revision, value: '{}' });
  },

  'is read as of a moment that is not later than that of the leases': async ({ connect }) => {
    const [a, ...readers] = await Promise.all(Array.from({ length: 5 }, connect));
    await a?.grant(A);
    let isOver = false;
    const missing: string[] = [];
    const reading = readers.map(async (reader) => {
      while (!isOver) {
        const { records, leases } = await reader.sync({ read: [NAME] });
        const [record] = records;
        // each lease was granted before the record named it
        if (typeof record === 'object' && !leases.has(record.value)) missing.push(record.value);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    let revision = 0;
    for (let n = 1; n <= 50; n++) {
      const lease = `a.${String(n)}@${String(LONG_MS)}`;
      await a?.grant(lease);
      revision = (await a?.put(NAME, revision, lease)) ?? 0;
    }
    isOver = true;
    await Promise.all(reading);
    deepEqual(missing, []);
  },
};

export const UNREADABLE_RECORD: Rules = {
  'is answered as such, beside others and leases': async ({ fixture, connect }) => {
    const a = await connect();
    await a.grant(A);
    const revision = await a.put('good:lock');
    await a.put(NAME);
    await fixture.spoil?.(NAME);
    const { records, leases } = await a.sync({ renew: [A], read: [NAME, 'good:lock', 'absent:lock'] });
    deepEqual(records, ['unreadable', { revision, value: '{}' }, undefined]);
    deepEqual([...leases.keys()], [A]);
  },

  'is not written as if it were absent, and the others are written': async ({ fixture, connect }) => {
    const a = await connect();
    await a.grant(A);
    await fixture.spoil?.(NAME);
    const writes = [NAME, 'good:lock'].map((name) => ({ name, ifRevision: 0, value: '{}' }));
    const [spoiled, good] = await a.writeAll(writes);
    equal(spoiled, undefined);
    deepEqual(await a.read('good:lock'), { revision: good, value: '{}' });
    equal(await a.read(NAME), 'unreadable');
  },
};

export const WRITE: Rules = {
  'of an absent record says 0': async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    await a.grant(A);
    equal(await b.write({ name: NAME, ifRevision: 1, value: '"b"' }), undefined);
    equal(await b.read(NAME), undefined);
    const revision = await a.put(NAME, 0, '"a"');
    equal(await b.write({ name: NAME, ifRevision: 0, value: '"b"' }), undefined);
    deepEqual(await b.read(NAME), { revision, value: '"a"' });
  },

  'is carried out only at the revision that it names': async ({ connect }) => {
    const a = await connect();
    await a.grant(A);
    const revision = await a.put(NAME);
    for (const ifRevision of [revision - 1, revision + 1, 0]) {
      equal(await a.write({ name: NAME, ifRevision, value: '"wrong"' }), undefined);
    }
    deepEqual(await a.read(NAME), { revision, value: '{}' });
    await a.put(NAME, revision);
  },

  'makes the revision the time of the store, or one more than it was': async ({ connect }) => {
    const a = await connect();
    let { time } = await a.grant(A);
    let revision = 0;
    for (let i = 0; i < 20; i++) {
      const next = await a.put(NAME, revision);
      const { time: after } = await a.sync();
      const [least, most] = [Math.max(revision + 1, time), Math.max(revision + 1, after)];
      ok(next >= least && next <= most, `${String(next)} is not ${String(least)} to ${String(most)}`);
      [revision, time] = [next, after];
    }
  },

  'fails without the others of its request, and each has its answer': async ({ connect }) => {
    const a = await connect();
    await a.grant(A);
    const taken = await a.put('taken:lock', 0, '1');
    const kept = await a.put('kept:lock', 0, '1');
    const revisions = await a.writeAll([
      { name: 'kept:lock', ifRevision: kept, value: '2' },
      { name: 'taken:lock', ifRevision: 0, value: '2' },
      { name: 'absent:lock', ifRevision: taken, value: '2' },
      { name: 'new:lock', ifRevision: 0, value: '2' },
    ]);
    deepEqual(
      revisions.map((revision) => revision !== undefined),
      [true, false, false, true],
    );
    const { records } = await a.sync({ read: ['kept:lock', 'taken:lock', 'absent:lock', 'new:lock'] });
    deepEqual(records, [
      { revision: revisions[0], value: '2' },
      { revision: taken, value: '1' },
      undefined,
      { revision: revisions[3], value: '2' },
    ]);
  },

  'succeeds for one of many replicas that saw the same revision': async ({ connect }) => {
    const replicas = await Promise.all(Array.from({ length: 8 }, connect));
    await replicas[0]?.grant(A);
    let revision = 0;
    for (let round = 0; round < 10; round++) {
      await Promise.all(replicas.map((replica) => replica.sync()));
      const write = (i: number) => ({ name: NAME, ifRevision: revision, value: String(i) });
      const results = await Promise.all(replicas.map((replica, i) => replica.write(write(i))));
      const winners = results.flatMap((result, i) =>
        result === undefined ? [] : [{ revision: result, value: String(i) }],
      );
      deepEqual(await replicas[0]?.read(NAME), winners[0]);
      equal(winners.length, 1);
      revision = winners[0]?.revision ?? 0;
    }
  },

  'does nothing in another incarnation, or where none is noted': async ({ connect }) => {
    const a = await connect();
    const write = { name: NAME, ifRevision: 0, value: '{}' };
    const { incarnation: none } = await a.sync();
    equal(await a.write(write, { incarnation: none.id }), undefined);
    const { incarnation, time } = await a.grant(A);
    for (const other of ['', `${incarnation.id}0`, `other/${String(time)}`, '/0']) {
      equal(await a.write(write, { incarnation: other }), undefined);
    }
    equal(await a.read(NAME), undefined);
  },

  'does nothing at its `until` or later': async ({ connect }) => {
    const a = await connect();
    const { time } = await a.grant(A);
    for (const until of [0, time - 1, time]) {
      equal(await a.write({ name: NAME, ifRevision: 0, value: '{}' }, { until }), undefined);
    }
    equal(await a.read(NAME), undefined);
    await a.put(NAME);
  },

  'may say after which time the record is forgotten': async ({ connect, passTime }) => {
    const a = await connect();
    await a.grant(A);
    const write = { name: NAME, value: '{}', forgetAfterMs: SHORT_MS };
    const first = await a.write({ ...write, ifRevision: 0 });
    deepEqual(await a.read(NAME), { revision: first, value: '{}' });
    await passTime(SHORT_MS + 20);
    const { time } = await eventually('the record is forgotten', async () => {
      const result = await a.sync({ read: [NAME] });
      return result.records[0] === undefined ? result : undefined;
    });
    equal(await a.write({ ...write, ifRevision: first ?? 0 }), undefined);
    ok((await a.put(NAME)) >= time);
  },

  'keeps a record for ever that it does not let be forgotten any more': async ({ connect, passTime }) => {
    const a = await connect();
    await a.grant(A);
    const first = await a.write({ name: NAME, ifRevision: 0, value: '1', forgetAfterMs: SHORT_MS });
    const revision = await a.put(NAME, first, '2');
    await passTime(SHORT_MS + 20);
    deepEqual(await a.read(NAME), { revision, value: '2' });
  },
};

export const LATE_REQUEST: Rules = {
  'is carried out in the order in which one store sent it': async ({ connect }) => {
    const a = await connect();
    await a.grant(A);
    let revision = 0;
    for (let i = 0; i < 20; i++) {
      const [before, written, after] = await Promise.all([
        a.sync({ read: [NAME] }),
        a.write({ name: NAME, ifRevision: revision, value: String(i) }),
        a.sync({ read: [NAME] }),
      ]);
      const records = [before.records[0], after.records[0]];
      const old = revision === 0 ? undefined : { revision, value: String(i - 1) };
      deepEqual(records, [old, { revision: written, value: String(i) }]);
      revision = written ?? 0;
    }
  },

  'changes nothing if it is a write that comes twice': async ({ connect }) => {
    const a = await connect();
    await a.grant(A);
    const write = { name: NAME, ifRevision: await a.put(NAME), value: '1' };
    const [revision, again] = await Promise.all([a.write(write), a.write(write)]);
    equal(again, undefined);
    deepEqual(await a.read(NAME), { revision, value: '1' });
  },

  'changes nothing if it is a write that comes after those of others': async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    await a.grant(A);
    const seen = await a.put(NAME, 0, '1');
    const revision = await b.put(NAME, await b.put(NAME, seen, '2'), '1');
    equal(await a.write({ name: NAME, ifRevision: seen, value: '3' }), undefined);
    equal(await a.write({ name: NAME, ifRevision: 0, value: '3' }), undefined);
    deepEqual(await b.read(NAME), { revision, value: '1' });
  },

  'changes nothing if it is a grant or a revocation that comes twice': async ({ connect }) => {
    const a = await connect();
    const { incarnation } = await a.grant(A);
    deepEqual((await a.grant(A)).incarnation, incarnation);
    deepEqual(await a.leases(), [A]);
    await a.sync({ revoke: [A] });
    await a.sync({ revoke: [A] });
    deepEqual(await a.leases(), []);
  },

  'changes nothing if it is a renewal that comes after a revocation': async ({ connect }) => {
    const a = await connect();
    await a.grant(A);
    await Promise.all([a.sync({ renew: [A] }), a.sync({ revoke: [A] }), a.sync({ renew: [A] })]);
    deepEqual(await a.leases(), []);
  },
};
