import { deepEqual, rejects } from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { type StoredRecord } from '../../store/store.js';
import { type Rules } from './rule-context.js';
import { A, until, NAME } from './suite-client.js';

/** A store without messages passes: replicas read it each second. */
export const HINT: Rules = {
  'reaches every replica of its project, and no other': async ({ a, b, connect, connectElsewhere }) => {
    const [c, elsewhere] = [await connect(), await connectElsewhere()];
    const names = ['price-tick:job', 'größe "4711" 🚆:lock'];
    if (!(await a.hint(names, [b, c]))) return;
    await elsewhere.hint(['elsewhere:job'], [elsewhere]);
    deepEqual([b.hints, c.hints, elsewhere.hints], [names, names, ['elsewhere:job']]);
    // a store may tell so many as any
    const many = [...Array(1_000).keys()].map((i) => `job-${String(i)}:job`);
    await a.hint(many, [b]);
  },

  'reaches the other listeners when one throws, and none that was removed': async ({ a, b }) => {
    const seen: unknown[] = [];
    b.store.addListener({ hint: (names) => seen.push(names) })();
    b.store.addListener({ hint: () => JSON.parse('no JSON') as undefined });
    b.store.addListener({ hint: () => seen.push('last') });
    if (!(await a.hint('*', [b]))) return;
    await until('the last listener is called', () => seen[0]);
    deepEqual(seen, ['last']);
  },
};

export const CONNECTION: Rules = {
  'carries out requests in the order in which they were sent': async ({ a }) => {
    let old: StoredRecord | undefined;
    for (let i = 0; i < 20; i++) {
      const [before, record, after] = await Promise.all([a.read(NAME), a.put(String(i), old), a.read(NAME)]);
      deepEqual([before, after], [[old], [record]]);
      old = record;
    }
  },

  'leaves nothing under way when it is closed, and rejects what comes later': async ({ a }) => {
    const underWay = Promise.allSettled(Array.from({ length: 20 }, () => a.sync({ renew: [A] })));
    await a.store.close();
    await underWay;
    await rejects(a.sync());
    await rejects(a.write());
    a.store.open();
    await rejects(a.sync());
  },

  'is reported once, and no more when it is closed, also if both are done twice': async ({ a, b, connect }) => {
    b.store.open();
    await b.sync();
    deepEqual([...b.events].sort(), b.expectedEvents);
    await Promise.all([b.store.close(), b.store.close()]);
    const events = [...b.events];
    await a.hint('*', [await connect()]);
    // a socket reports its end in a later turn
    await wait(20);
    deepEqual([b.events, b.hints], [events, []]);
  },
};
