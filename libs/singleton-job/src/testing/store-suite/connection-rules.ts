import { deepEqual, ok, rejects } from 'node:assert/strict';
import { type Rules } from './rule-context.js';
import { eventually, LONG_MS, type SuiteClient } from './suite-client.js';

const A = `a.1@${String(LONG_MS)}`;

/** Waits until all these names have arrived, or `*`. */
async function hinted({ hints }: SuiteClient, names: readonly string[]): Promise<void> {
  const isMet = () => hints.includes('*') || names.every((name) => hints.flat().includes(name)) || undefined;
  await eventually(`a hint of ${names.slice(0, 3).join(', ')}`, isMet);
}

/** A store without messages passes: replicas look at it each second. */
export const HINT: Rules = {
  'reaches every replica': async ({ connect }) => {
    const [a, b, c] = [await connect(), await connect(), await connect()];
    if (a.store.publish === undefined) return;
    await a.store.publish(['price-tick:lock', 'größe "4711" 🚆:mutex']);
    for (const { hints } of [b, c]) {
      await eventually('the hint', () => hints[0]);
      deepEqual(hints, [['price-tick:lock', 'größe "4711" 🚆:mutex']]);
    }
  },

  'may be about any record': async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    if (a.store.publish === undefined) return;
    await a.store.publish('*');
    await eventually('the hint', () => b.hints[0]);
    deepEqual(b.hints, ['*']);
  },

  'may be about a thousand records, and may then say any': async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    if (a.store.publish === undefined) return;
    const names = Array.from({ length: 1_000 }, (_, i) => `a-job-with-a-long-name-${String(i)}:lock`);
    await a.store.publish(names);
    await hinted(b, names);
  },

  'does not reach another project': async ({ connect, connectElsewhere }) => {
    const [a, b, elsewhere] = [await connect(), await connect(), await connectElsewhere()];
    await a.store.publish?.(['price-tick:lock']);
    await elsewhere.store.publish?.(['other:lock']);
    if (a.store.publish === undefined) return;
    await hinted(b, ['price-tick:lock']);
    await hinted(elsewhere, ['other:lock']);
    deepEqual([b.hints.flat(), elsewhere.hints.flat()], [['price-tick:lock'], ['other:lock']]);
  },

  'reaches the other listeners when one throws, and none that was removed': async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    if (a.store.publish === undefined) return;
    const seen: unknown[] = [];
    b.store.addListener({ hint: (names) => seen.push(names) })();
    b.store.addListener({
      hint: () => {
        throw new Error('a broken listener');
      },
    });
    b.store.addListener({ hint: () => seen.push('last') });
    await a.store.publish('*');
    await eventually('the hint', () => seen[0]);
    deepEqual(seen, ['last']);
  },
};

export const CONNECTION: Rules = {
  'is reported once, also if it is opened twice': async ({ connect }) => {
    const a = await connect();
    a.store.open();
    await a.grant(A);
    const expected = a.store.publish === undefined ? ['connected'] : ['connected', 'listening'];
    deepEqual([...a.events].sort(), expected);
  },

  'rejects what is under way when it is closed, and what comes later': async ({ connect }) => {
    const a = await connect();
    await a.grant(A);
    const underWay = Promise.allSettled(Array.from({ length: 20 }, () => a.sync({ renew: [A] })));
    await a.store.close();
    const outcomes = await underWay;
    ok(outcomes.length === 20);
    await rejects(a.sync());
    await rejects(a.write({ name: 'price-tick:lock', ifRevision: 0, value: '{}' }));
    a.store.open();
    await rejects(a.sync());
  },

  'reports nothing once it is closed, also if it is closed twice': async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    const closing = b.store.close();
    await b.store.close();
    await closing;
    const events = [...b.events];
    await a.store.publish?.('*');
    const control = await connect();
    await a.store.publish?.('*');
    if (a.store.publish !== undefined) await hinted(control, ['any']);
    deepEqual([b.events, b.hints], [events, []]);
  },
};
