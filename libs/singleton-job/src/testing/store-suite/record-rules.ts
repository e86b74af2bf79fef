import { deepEqual, equal, ok } from 'node:assert/strict';
import { type StoredRecord } from '../../store/store.js';
import { type Rules } from './rule-context.js';
import { A, until, LONG_MS, NAME, type SuiteClient } from './suite-client.js';

const TEXT = 'größe 東京 🚆 "double" \'single\' \\ \n \r\n \t \u2028 %s $1 :x ? {y}; --';

const ODD_NAMES = [TEXT, 'leases', ' trimmed ', 'tRimmed', 'trimmed'];
const ODD_VALUES = ['{"b":1,"a":2.50,  "c":1e3}', `["\\u0000", ${JSON.stringify(TEXT)}]`, `"${'x'.repeat(10_000)}"`];

export const RECORD: Rules = {
  'comes back as it was written': async ({ a, b }) => {
    let record = { revision: 0 };
    for (const value of ODD_VALUES) {
      record = await a.put(value, record);
      deepEqual(await b.read(NAME), [record]);
    }
  },

  'may have any name, be one of a thousand, and is answered in its place': async ({ a, b }) => {
    const names = Array.from({ length: 1_000 }, (_, i) => `${ODD_NAMES[i] ?? `job-${String(i)}`}:job`);
    const written = await a.writeAll(names.map((name) => ({ name, value: JSON.stringify(name) })));
    const { records, leases } = await b.sync({ read: ['absent:job', ...names, ...names.slice(0, 2).reverse()] });
    deepEqual([written.includes(undefined), [...leases.keys()]], [false, [A]]);
    deepEqual(records, [undefined, ...written, ...written.slice(0, 2).reverse()]);
  },

  'is of one project, and outlives the lease of its writer': async ({ a, connectElsewhere }) => {
    const elsewhere = await connectElsewhere();
    const record = await a.put();
    deepEqual((await elsewhere.sync({ grant: [A], read: [NAME] })).records, [undefined]);
    await elsewhere.put('"elsewhere"');
    await a.sync({ revoke: [A] });
    deepEqual(await a.read(NAME), [record]);
  },

  'is read as of a moment that is not later than that of the leases': async ({ a, b, connect }) => {
    const look = async (reader: SuiteClient) => {
      for (let n = 0; n < 100; n++) {
        const { records, leases } = await reader.sync({ read: [NAME] });
        const { value = A } = (records[0] ?? {}) as Partial<StoredRecord>;
        ok(leases.has(value), `the lease '${value}' was granted before the record named it`);
      }
    };
    const looking = Promise.all([look(b), look(await connect())]);
    let record = { revision: 0 };
    for (let n = 2; n <= 50; n++) {
      const lease = `a.${String(n)}@${String(LONG_MS)}`;
      [, record] = await Promise.all([a.sync({ grant: [lease] }), a.put(lease, record)]);
    }
    await looking;
  },
};

export const UNREADABLE_RECORD: Rules = {
  'is no absent one, and concerns no lease and no other record': async ({ fixture, a }) => {
    await fixture.corrupt?.(NAME);
    const [corrupted, good] = await a.writeAll([{}, { name: 'good:job' }]);
    equal(corrupted, undefined);
    const { records, leases } = await a.sync({ renew: [A], read: ['good:job', NAME, 'absent:job'] });
    deepEqual([records, [...leases.keys()]], [[good, 'unreadable', undefined], [A]]);
  },
};

export const WRITE: Rules = {
  'is carried out only at the revision that it names, 0 for none, so it may come twice or late': async ({ a, b }) => {
    deepEqual([await b.write('1', { revision: 1 }), await b.read(NAME)], [undefined, [undefined]]);
    const first = await a.put('1');
    const [second, again] = await Promise.all([a.write('2', first), a.write('2', first)]);
    equal(again, undefined);
    const third = await b.put('1', second);
    const wrong = [undefined, first, second, { revision: third.revision + 1 }];
    for (const old of wrong) equal(await a.write('2', old), undefined);
    deepEqual(await b.read(NAME), [third]);
  },

  'makes the revision the time of the store, or one more than it was': async ({ a }) => {
    let [{ time }, old] = [await a.sync(), 0];
    for (let i = 0; i < 20; i++) {
      const { revision } = await a.put('{}', { revision: old });
      const { time: after } = await a.sync();
      ok(revision >= Math.max(old + 1, time) && revision <= Math.max(old + 1, after), String(revision));
      [old, time] = [revision, after];
    }
  },

  'fails without the others of its request, and each has its answer': async ({ a }) => {
    const old = await a.put('1');
    const [x, y, z] = ['x:job', 'y:job', 'z:job'];
    const written = await a.writeAll([{ name: x }, { name: y, ifRevision: old.revision }, {}, { name: z }]);
    deepEqual(written.map(Boolean), [true, false, false, true]);
    deepEqual(await a.read(x, y, NAME, z), [written[0], undefined, old, written[3]]);
  },

  'succeeds for one of many replicas that saw the same revision': async ({ a, b, connect }) => {
    const replicas = [a, b, await connect(), await connect(), await connect()];
    let old: StoredRecord | undefined;
    for (let round = 0; round < 10; round++) {
      const written = await Promise.all(replicas.map((replica, i) => replica.write(String(i), old)));
      const winners = written.filter((record) => record !== undefined);
      deepEqual(winners, await a.read(NAME));
      [old] = winners;
    }
  },

  'does nothing in another incarnation, or none, and at its `until` or later': async ({ a, connectElsewhere }) => {
    const [elsewhere, { time, incarnation }] = [await connectElsewhere(), await a.sync()];
    equal(await elsewhere.write(), undefined);
    const others = ['', '/0', `other/${String(incarnation.since)}`, `${incarnation.id}0`];
    for (const other of others) equal(await a.write('{}', undefined, { incarnation: other }), undefined);
    for (const until of [0, time - 1, time]) equal(await a.write('{}', undefined, { until }), undefined);
    deepEqual([...(await a.read(NAME)), ...(await elsewhere.read(NAME))], [undefined, undefined]);
  },

  'may let the record be forgotten, and the next one may keep it for ever': async ({ a, passTime }) => {
    const [forgetAfterMs, name] = [500, 'kept:job'];
    const kept = await a.put('2', await a.put('1', undefined, { name, forgetAfterMs }), { name });
    const [record, seen] = await Promise.all([a.put('1', undefined, { forgetAfterMs }), a.read(NAME)]);
    deepEqual(seen, [record]);
    await passTime(forgetAfterMs + 20);
    await until('the record is forgotten', async () => (await a.read(NAME))[0] === undefined || undefined);
    const { time, records } = await a.sync({ read: [name] });
    deepEqual([records, await a.write('{}', record)], [[kept], undefined]);
    ok((await a.put()).revision >= time);
  },
};
