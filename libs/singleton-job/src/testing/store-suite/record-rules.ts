import { deepEqual, equal, ok } from 'node:assert/strict';
import { type StoredRecord } from '../../store/store.js';
import { type Rules } from './rule-context.js';
import { A, eventually, LONG_MS, NAME, type SuiteClient } from './suite-client.js';

const TEXT = 'größe 東京 🚆 "double" \'single\' \\ \n \r\n \t \u2028 %s $1 :x ? {y}; --';

const ODD_NAMES = [TEXT, 'leases', ' trimmed ', 'tRimmed', 'trimmed'];
const ODD_VALUES = ['{"b":1,"a":2.50,  "c":1e3}', `["\\u0000", ${JSON.stringify(TEXT)}]`, `"${'x'.repeat(10_000)}"`];

export const RECORD: Rules = {
  'is answered in the order of the names, and undefined if it is absent': async ({ a, b }) => {
    const one = await a.put('1', undefined, { name: 'one:lock' });
    const two = await a.put('2', undefined, { name: 'two:lock' });
    deepEqual(await b.read('two:lock', 'absent:lock', 'one:lock', 'two:lock'), [two, undefined, one, two]);
  },

  'comes back as it was written': async ({ a, b }) => {
    let record = { revision: 0 };
    for (const value of ODD_VALUES) {
      record = await a.put(value, record);
      deepEqual(await b.read(NAME), [record]);
    }
  },

  'may have any name, and be one of a thousand': async ({ a, b }) => {
    const names = Array.from({ length: 1_000 }, (_, i) => ODD_NAMES[i] ?? `job-${String(i)}`);
    const writes = names.map((name, i) => ({ name: `${name}:lock`, ifRevision: 0, value: String(i) }));
    const revisions = await a.writeAll(writes);
    const written = writes.map(({ value }, i) => ({ revision: revisions[i], value }));
    const { records, leases } = await b.sync({ read: writes.map(({ name }) => name) });
    deepEqual([records, [...leases.keys()]], [written, [A]]);
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
    const write = async () => {
      let record = { revision: 0 };
      for (let n = 2; n <= 50; n++) {
        const lease = `a.${String(n)}@${String(LONG_MS)}`;
        [, record] = await Promise.all([a.sync({ grant: [lease] }), a.put(lease, record)]);
      }
    };
    const look = async (reader: SuiteClient) => {
      for (let n = 0; n < 100; n++) {
        const { records, leases } = await reader.sync({ read: [NAME] });
        const { value = A } = (records[0] ?? {}) as Partial<StoredRecord>;
        ok(leases.has(value), `the lease '${value}' was granted before the record named it`);
      }
    };
    await Promise.all([write(), look(b), look(await connect())]);
  },
};

export const UNREADABLE_RECORD: Rules = {
  'is no absent one, and concerns no lease and no other record': async ({ fixture, a }) => {
    await fixture.spoil?.(NAME);
    const [spoiled, revision] = await a.writeAll(
      [NAME, 'good:lock'].map((name) => ({ name, ifRevision: 0, value: '1' })),
    );
    equal(spoiled, undefined);
    const { records, leases } = await a.sync({ renew: [A], read: ['good:lock', NAME, 'absent:lock'] });
    deepEqual([records, [...leases.keys()]], [[{ revision, value: '1' }, 'unreadable', undefined], [A]]);
  },
};

export const WRITE: Rules = {
  'is carried out only at the revision that it names, 0 for none': async ({ a, b }) => {
    deepEqual([await b.write(1), await b.read(NAME)], [undefined, [undefined]]);
    const record = await a.put();
    for (const wrong of [0, record.revision - 1, record.revision + 1]) equal(await b.write(wrong, '"b"'), undefined);
    deepEqual(await b.read(NAME), [record]);
    await b.put('"b"', record);
  },

  'makes the revision the time of the store, or one more than it was': async ({ a }) => {
    let [{ time }, old] = [await a.sync(), 0];
    for (let i = 0; i < 20; i++) {
      const { revision } = await a.put('{}', { revision: old });
      const { time: after } = await a.sync();
      const [least, most] = [Math.max(old + 1, time), Math.max(old + 1, after)];
      ok(revision >= least && revision <= most, `${String(revision)} is not ${String(least)} to ${String(most)}`);
      [old, time] = [revision, after];
    }
  },

  'fails without the others of its request, and each has its answer': async ({ a }) => {
    const old = await a.put('1');
    const of = (name: string, ifRevision: number) => ({ name, ifRevision, value: '2' });
    const writes = [of('new:lock', 0), of('absent:lock', old.revision), of(NAME, 0), of('newer:lock', 0)];
    const revisions = await a.writeAll(writes);
    const [first, , , last] = revisions.map((revision) => ({ revision, value: '2' }));
    deepEqual(await a.read(...writes.map(({ name }) => name)), [first, undefined, old, last]);
    deepEqual(revisions.slice(1, 3), [undefined, undefined]);
  },

  'succeeds for one of many replicas that saw the same revision': async ({ a, b, connect }) => {
    const replicas = [a, b, await connect(), await connect(), await connect()];
    let revision: number | undefined = 0;
    for (let round = 0; round < 10; round++) {
      const results = await Promise.all(replicas.map((replica, i) => replica.write(revision ?? 0, String(i))));
      const all = results.map((result, i) => ({ revision: result, value: String(i) }));
      const winners = all.filter((result) => result.revision !== undefined);
      deepEqual(winners, await a.read(NAME));
      revision = winners[0]?.revision;
    }
  },

  'does nothing in another incarnation, or where none is noted': async ({ a, connectElsewhere }) => {
    const [elsewhere, { incarnation }] = [await connectElsewhere(), await a.sync()];
    equal(await elsewhere.write(0), undefined);
    for (const other of ['', '/0', `other/${String(incarnation.since)}`, `${incarnation.id}0`]) {
      equal(await a.write(0, '{}', { incarnation: other }), undefined);
    }
    deepEqual([...(await a.read(NAME)), ...(await elsewhere.read(NAME))], [undefined, undefined]);
  },

  'does nothing at its `until` or later': async ({ a }) => {
    const { time } = await a.sync();
    for (const until of [0, time - 1, time]) equal(await a.write(0, '{}', { until }), undefined);
    deepEqual(await a.read(NAME), [undefined]);
  },

  'may let the record be forgotten, and the next one may keep it for ever': async ({ a, passTime }) => {
    const [forgetAfterMs, name] = [500, 'kept:lock'];
    const kept = await a.put('2', await a.put('1', undefined, { name, forgetAfterMs }), { name });
    const [record, seen] = await Promise.all([a.put('1', undefined, { forgetAfterMs }), a.read(NAME)]);
    deepEqual(seen, [record]);
    await passTime(forgetAfterMs + 20);
    await eventually('the record is forgotten', async () => (await a.read(NAME))[0] === undefined || undefined);
    const { time, records } = await a.sync({ read: [name] });
    deepEqual([records, await a.write(record.revision)], [[kept], undefined]);
    ok((await a.put()).revision >= time);
  },
};

export const LATE_REQUEST: Rules = {
  'is carried out in the order in which one store sent it': async ({ a }) => {
    let old: StoredRecord | undefined;
    for (let i = 0; i < 20; i++) {
      const [before, record, after] = await Promise.all([a.read(NAME), a.put(String(i), old), a.read(NAME)]);
      deepEqual([before, after], [[old], [record]]);
      old = record;
    }
  },

  'changes nothing if it is a write that comes twice, or after those of others': async ({ a, b }) => {
    const seen = await a.put('1');
    const [revision = 0, again] = await Promise.all([a.write(seen.revision, '2'), a.write(seen.revision, '2')]);
    equal(again, undefined);
    const record = await b.put('1', { revision });
    for (const late of [0, seen.revision, revision]) equal(await a.write(late, '2'), undefined);
    deepEqual(await b.read(NAME), [record]);
  },
};
