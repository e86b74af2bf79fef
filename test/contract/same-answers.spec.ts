import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { InMemoryLockStore, type LockStore, RedisLockStore } from '../../libs/singleton-job/src/store/index.js';
import { ManualClock } from '../../libs/singleton-job/src/testing/index.js';
import { RedisServer } from '../../tools/redis/index.js';
import { LONG_MS } from './lock-store-world.js';

type Step =
  | {
      readonly kind: 'acquire';
      readonly holder: string;
      readonly schedule: string;
      readonly seenToken: number;
      readonly seenLast: number;
      readonly seenRan: number;
      readonly seenSchedule?: string;
    }
  | { readonly kind: 'renew' | 'release'; readonly holder: string; readonly progress: Offsets }
  | {
      readonly kind: 'claim';
      readonly holder: string;
      readonly progress: Offsets;
      readonly token: number;
      readonly at: number;
    }
  | { readonly kind: 'occupy'; readonly holder: string }
  | { readonly kind: 'expire' | 'forget' | 'lose' };

/** Instants relative to the beginning of the sequence, so that they meet. */
interface Offsets {
  readonly ran?: number;
  readonly last?: number;
  readonly endAgeMs?: number;
}

const holder = fc.constantFrom('a#1', 'a#2', 'b#1', 'somebody-else');
const offset = fc.integer({ min: -50, max: 50 }).map((n) => n * 10);
const progress = fc.record(
  { ran: offset, last: offset, endAgeMs: fc.constantFrom(0, 40, 40.4, 9_000_000) },
  { requiredKeys: [] },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      {
        kind: fc.constant('acquire' as const),
        holder,
        schedule: fc.constantFrom('x', 'x', 'x', 'y'),
        seenToken: fc.constantFrom(0, 0, 0, 1, 1_000),
        seenLast: fc.oneof(fc.constant(-Infinity), offset),
        seenRan: fc.oneof(fc.constant(-Infinity), offset),
        seenSchedule: fc.constantFrom('x', 'y'),
      },
      { requiredKeys: ['kind', 'holder', 'schedule', 'seenToken', 'seenLast', 'seenRan'] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('renew' as const, 'release' as const), holder, progress }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      holder,
      progress,
      token: fc.constantFrom(1, 2),
      at: fc.oneof(offset, fc.constantFrom(30_000, 90_000)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('occupy' as const), holder }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('expire' as const, 'forget' as const, 'lose' as const) }) },
);

/** A state that has only an end, and a bidder that has seen more under another schedule. */
const ENDED_WITHOUT_A_PAST: Step[] = [
  { kind: 'occupy', holder: 'b#1' },
  { kind: 'release', holder: 'b#1', progress: { endAgeMs: 0 } },
  { kind: 'acquire', holder: 'a#1', schedule: 'y', seenToken: 0, seenLast: 0, seenRan: 0, seenSchedule: 'x' },
];

describe('Redis and memory', () => {
  let server: RedisServer;
  let raw: Redis;
  let redis: RedisLockStore;
  const projectName = `p-${randomUUID()}`;
  const lockKey = `${projectName}:job:lock`;
  const stateKey = `{${lockKey}}:state`;

  beforeAll(async () => {
    server = await RedisServer.start();
    raw = new Redis(server.url);
    redis = new RedisLockStore({ projectName, connection: server.url });
    const reached = new Promise<void>((resolve) => redis.listen({ reachable: resolve }));
    redis.open();
    await reached;
  });

  afterAll(async () => {
    await redis.close();
    raw.disconnect();
    await server.stop();
  });

  const send = (store: LockStore, begin: number, taken: Step): Promise<Answer> | undefined => {
    const common = { name: 'job', lockExpiryMs: LONG_MS };
    const at = (relative: number): number => Math.max(begin + relative, 0);
    switch (taken.kind) {
      case 'acquire': {
        const { seenToken, seenLast, seenRan } = taken;
        return store.acquire({
          ...common,
          ...taken,
          seenToken: seenToken === 0 ? 0 : at(seenToken),
          seenLast: at(seenLast),
          seenRan: at(seenRan),
        });
      }
      case 'renew':
        return store.renew({ ...common, ...taken, progress: placed(taken.progress, begin) });
      case 'claim':
        return store.claim({
          ...common,
          ...taken,
          progress: placed(taken.progress, begin),
          scheduledAt: at(taken.at),
        });
      case 'release':
        return store.release({ ...common, ...taken, progress: placed(taken.progress, begin), quietly: true });
      case 'occupy':
      case 'expire':
      case 'forget':
      case 'lose':
        return undefined;
    }
  };

  const interfere = async (taken: Step): Promise<void> => {
    if (taken.kind === 'occupy') await raw.set(lockKey, taken.holder);
    else await raw.del(...(taken.kind === 'forget' ? [] : [lockKey]), ...(taken.kind === 'expire' ? [] : [stateKey]));
  };

  it('answer every sequence of commands alike, and lower nothing on the way', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        await raw.del(lockKey, stateKey);
        const [seconds, micros] = await raw.time();
        const begin = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
        const clock = new ManualClock(begin);
        const memory = new InMemoryLockStore(clock);
        let before: Record<string, string> = {};
        for (const taken of steps) {
          const answer = await send(redis, begin, taken);
          if (answer === undefined) {
            await interfere(taken);
            interfereInMemory(memory, taken);
            if (taken.kind === 'lose' || taken.kind === 'forget') before = {};
            continue;
          }
          // the other store takes the step at the very same time
          clock.stepWall(answer.time - clock.wallNow());
          expect(withoutTtl(answer)).toEqual(withoutTtl((await send(memory, begin, taken)) ?? answer));
          const after = await raw.hgetall(stateKey);
          expectNothingLowered(before, after);
          before = after;
        }
      }),
      { numRuns: 150, examples: [[ENDED_WITHOUT_A_PAST]] },
    );
  });

  it('are compared on sequences that meet every kind of answer', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 30 }), async (steps) => {
        const begin = 1_000_000;
        const memory = new InMemoryLockStore(new ManualClock(begin));
        for (const taken of steps) {
          const answer = await send(memory, begin, taken);
          if (answer === undefined) interfereInMemory(memory, taken);
          else for (const kind of kindsOf(answer)) seen.add(kind);
        }
      }),
      { numRuns: 300, seed: 1 },
    );
    const kinds = [
      'granted',
      'unaccounted',
      'raised',
      'ended',
      'refused',
      'mended',
      'held',
      'lost',
      'released',
      'not released',
    ];
    const outcomes = ['claimed', 'mine', 'taken', 'too-early', 'not-leader'];
    expect([...seen].sort()).toEqual([...kinds, ...outcomes].sort());
  });
});

type Answer = Awaited<
  ReturnType<LockStore['acquire'] | LockStore['renew'] | LockStore['claim'] | LockStore['release']>
>;

function interfereInMemory(memory: InMemoryLockStore, taken: Step): void {
  if (taken.kind === 'occupy') memory.occupy('job', taken.holder);
  else if (taken.kind === 'expire') memory.free('job');
  else if (taken.kind === 'forget') memory.forget('job');
  else memory.loseData();
}

function kindsOf(answer: Answer): string[] {
  if ('outcome' in answer) return [answer.outcome];
  if ('held' in answer) return [answer.held ? 'held' : 'lost'];
  if ('released' in answer) return [answer.released ? 'released' : 'not released'];
  if (!answer.granted) return ['refused', ...(answer.mended ? ['mended'] : [])];
  const { raisedFrom, endAgeMs, ran, last, by } = answer;
  return [
    'granted',
    ...(by === '' && ran < last ? ['unaccounted'] : []),
    ...(raisedFrom ? ['raised'] : []),
    ...(endAgeMs === undefined ? [] : ['ended']),
  ];
}

function placed({ ran, last, endAgeMs }: Offsets, begin: number) {
  return {
    ...(ran === undefined ? {} : { ran: begin + ran }),
    ...(last === undefined ? {} : { last: begin + last }),
    ...(endAgeMs === undefined ? {} : { endAgeMs }),
  };
}

/** Redis reckons the rest of a life by a clock reading of its own, which may be a millisecond off. */
function withoutTtl(answer: Answer): Answer {
  return 'ttlMs' in answer ? { ...answer, ttlMs: Math.round(answer.ttlMs / 60_000) } : answer;
}

function expectNothingLowered(before: Record<string, string>, after: Record<string, string>): void {
  for (const field of ['token', 'born', 'last', 'ran', 'end']) {
    const [old, now] = [before[field], after[field]];
    if (old === undefined) continue;
    const isForgotten = field === 'end' && now === undefined && before['schedule'] !== after['schedule'];
    if (!isForgotten) expect({ field, value: Number(now) >= Number(old) }).toEqual({ field, value: true });
  }
}
