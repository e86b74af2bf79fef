import { PGlite } from '@electric-sql/pglite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { JobRun, LeaseLostError } from 'nestjs-singleton-job';
import { deferred } from '../support/deferred.js';
import { StaleLeaderError } from '../support/fenced-errors.js';
import { changePage, charge } from '../support/fenced-http.js';
import { QUICK_TO_NOTICE, SLOW_TO_NOTICE, useFencedReplicas } from '../support/fenced-replicas.js';
import { fencedResources } from '../support/fenced-resources.js';
import { FencedServer } from '../support/fenced-server.js';
import { TABLES } from '../support/fenced-sql.js';
import { useRedis, useRedisServer } from '../support/redis.js';

const A_DAY_MS = 86_400_000;

const locks = useRedisServer();
const shop = useRedis();
const replicas = useFencedReplicas(() => locks().url);
let db: PGlite;
let redis: Redis;
let server: FencedServer;

beforeAll(async () => {
  db = await PGlite.create();
  await db.exec(TABLES);
  server = await FencedServer.start();
});

beforeEach(() => {
  redis = new Redis(shop().url);
});

// for each test, because the server of the file is stopped before what is said here is done after all of them
afterEach(() => redis.quit());

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await db.close();
});

type Write = (run: JobRun, pause: () => Promise<void>) => Promise<unknown>;

/** A run writes `early` after a pause in which another replica took over and did `meanwhile`; settles as the run did. */
async function writeAfterPause(early: Write, meanwhile: (run: JobRun) => Promise<void>): Promise<JobRun> {
  const paused = deferred<undefined>();
  const over = deferred<undefined>();
  const first = await replicas().start(SLOW_TO_NOTICE);
  const outcome = first.inNextRun(async (run) => {
    const pause = async (): Promise<void> => {
      paused.resolve(undefined);
      await over.promise;
      run.assertLeader(); // it believes so still
    };
    await early(run, pause);
  });
  try {
    await Promise.race([paused.promise, outcome]);
    await replicas().takeLock();
    const second = await replicas().start(SLOW_TO_NOTICE);
    await second.inNextRun(meanwhile);
  } finally {
    over.resolve(undefined);
  }
  return outcome;
}

const resources = fencedResources({ db: () => db, redis: () => redis, server: () => server });

describe.each(Object.entries(resources))('A resource fenced by %s', (_name, resource) => {
  beforeEach(() => resource.begin());

  afterEach(() => resource.begin());

  it('refuses a leader that was paused between its last check and its write while another took over', async () => {
    const stale = writeAfterPause(
      (run, pause) => resource.write(run, 'of the earlier term', pause),
      (run) => resource.write(run, 'of the later term'),
    );
    await expect(stale).rejects.toThrow(StaleLeaderError);
    expect(await resource.read()).toBe('of the later term');
  });

  it('would have been overwritten by it without the check', async () => {
    await writeAfterPause(
      (_run, pause) => pause().then(() => resource.overwrite('of the earlier term')),
      (run) => resource.write(run, 'of the later term'),
    );
    expect(await resource.read()).toBe('of the earlier term');
  });

  it('accepts one write after the other of a term', async () => {
    const replica = await replicas().start(SLOW_TO_NOTICE);
    const first = await replica.inNextRun((run) => resource.write(run, 'first'));
    const second = await replica.inNextRun((run) => resource.write(run, 'second'));
    expect(second.fencingToken).toBe(first.fencingToken);
    expect(await resource.read()).toBe('second');
  });

  it('accepts the next leader after Redis lost its data, and still refuses the one before', async () => {
    // so that no clock can vouch for the next token
    await replicas().raiseToken(Date.now() + A_DAY_MS);
    const first = await replicas().start({ ...QUICK_TO_NOTICE, nodeId: 'first' });
    const lost = deferred<undefined>();
    const begun = deferred<JobRun>();
    const stale = first.inNextRun(async (run) => {
      await resource.write(run, 'before');
      begun.resolve(run);
      await lost.promise;
      await resource.write(deaf(run), 'of the earlier term');
    });
    try {
      const { fencingToken } = await Promise.race([begun.promise, stale]);
      const second = await replicas().bidOf('second', () => replicas().start({ ...QUICK_TO_NOTICE, nodeId: 'second' }));
      await replicas().redis.flushall();
      const after = await second.inNextRun((run) => resource.write(run, 'after'));
      expect(after.fencingToken).toBeGreaterThan(fencingToken);
      expect(Number.isSafeInteger(after.fencingToken)).toBe(true);
    } finally {
      lost.resolve(undefined);
      await stale.catch(() => undefined);
    }
    await expect(stale).rejects.toThrow(StaleLeaderError);
    expect(await resource.read()).toBe('after');
  });
});

/** A run of one occurrence, in the term of this token. */
function runOf(fencingToken: number, isLeader = true): JobRun {
  const at = new Date('2027-01-01T03:00:00Z');
  const facts = { job: 'bill', kind: 'cron', cause: 'schedule', scheduledAt: at, startedAt: at } as const;
  return new JobRun({ ...facts, fencingToken }, new AbortController().signal, () => isLeader);
}

/** The same run to somebody who does not hear its signal. */
function deaf(run: JobRun): JobRun {
  return new JobRun(run, new AbortController().signal, () => true);
}

describe('A column for fencing tokens', () => {
  it('has to be wider than 32 bits', async () => {
    const { fencingToken } = await (await replicas().start(SLOW_TO_NOTICE)).inNextRun(async () => {});
    await db.exec('CREATE TEMPORARY TABLE narrow (fencing_token INTEGER)');
    await expect(db.query('INSERT INTO narrow VALUES ($1)', [fencingToken])).rejects.toThrow(/out of range/);
  });
});

describe('A page that is changed with If-Match', () => {
  const page = resources['If-Match over HTTP'];

  beforeEach(() => page.begin());

  it('answers a stale leader with 412', async () => {
    const puts = server.puts.length;
    const stale = writeAfterPause(
      (run, pause) => page.write(run, 'of the earlier term', pause),
      (run) => page.write(run, 'of the later term'),
    );
    await expect(stale).rejects.toThrow(StaleLeaderError);
    expect(server.puts.slice(puts)).toEqual([200, 412]);
  });

  it('is changed on top of what the earlier leader wrote in between', async () => {
    const texts: string[] = [];
    await changePage(server.url, runOf(2), async (text) => {
      if (texts.length === 0) await changePage(server.url, runOf(1), async () => 'of the earlier term');
      texts.push(text);
      return `${text}, and the later one`;
    });
    expect(texts).toEqual(['', 'of the earlier term']);
    expect(server.page).toEqual({ text: 'of the earlier term, and the later one', fencingToken: 2 });
  });
});

describe('A payment with an idempotency key', () => {
  beforeEach(() => {
    server.charges.clear();
  });

  it('is charged once for an occurrence, whoever asks and however often', async () => {
    await charge(server.url, runOf(1), 10);
    await charge(server.url, runOf(1), 10);
    await charge(server.url, runOf(2), 10);
    expect([...server.charges]).toEqual([['bill/2027-01-01T03:00:00.000Z', { amount: 10 }]]);
  });

  it('is not asked for by a run that knows it may lead no more', async () => {
    await expect(charge(server.url, runOf(1, false), 10)).rejects.toThrow(LeaseLostError);
    expect(server.charges.size).toBe(0);
  });
});
