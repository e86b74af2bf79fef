import { describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { inspect } from 'node:util';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { SystemClock } from '../base/time/system-clock.js';
import { MemoryServer, MemoryStore } from '../store/memory.js';
import { resolveOptions } from './resolve-options.js';
import { MODULE_OPTIONS } from './table/module-option-table.js';

/** No variables, and a host name. */
const ENVIRONMENT = [{}, 'host-1'] as const;

const REQUIRED = { projectName: 'myapp', connection: 'redis://localhost:6379' };

const STORE = new MemoryStore(new MemoryServer(new SystemClock()));

function caught(act: () => unknown): unknown {
  try {
    return act();
  } catch (error: unknown) {
    return error;
  }
}

describe('the resolved options', () => {
  it('have these defaults', () => {
    expect(resolveOptions(REQUIRED, ...ENVIRONMENT)).toEqual({
      projectName: 'myapp',
      connection: 'redis://localhost:6379',
      crashHandover: true,
      store: undefined,
      heartbeatIntervalMs: 3_000,
      lockExpiryMs: 10_000,
      heartbeatThread: undefined,
      nodeId: 'host-1',
      shutdownTimeoutMs: 8_000,
      timeZone: 'UTC',
      misfireGraceMs: undefined,
      warnAfterMs: 8_000,
      enabled: true,
      disabledBy: undefined,
      unreadVariables: [],
      rebalance: false,
      jobs: [],
      observers: [],
      interceptors: [],
    });
  });

  it('are frozen, and the object of the user is neither changed nor frozen', () => {
    const raw = { ...REQUIRED, connection: { host: 'cache' }, jobs: { tick: { period: '1s' } }, observers: [{}] };
    const before = structuredClone(raw);
    const resolved = resolveOptions(raw, ...ENVIRONMENT);
    const parts = [resolved, resolved.observers, resolved.interceptors, resolved.jobs, ...resolved.jobs];
    expect(parts.every((part) => Object.isFrozen(part))).toBe(true);
    const given = [raw, raw.connection, raw.jobs, raw.jobs.tick, ...raw.observers];
    expect(given.some((part) => Object.isFrozen(part))).toBe(false);
    expect(raw).toEqual(before);
    raw.jobs.tick.period = '2s';
    expect(resolved.jobs[0]?.options.period).toBe(1_000);
  });

  it('keep clients, stores and observers as the same objects, but take no client with a key prefix', () => {
    const clients = (redisOptions: { readonly keyPrefix?: string }) => [
      new Redis({ lazyConnect: true, ...redisOptions }),
      new Cluster([{ host: 'cache', port: 7000 }], { lazyConnect: true, redisOptions }),
    ];
    for (const connection of clients({})) {
      const observer = {};
      const resolved = resolveOptions({ ...REQUIRED, connection, store: STORE, observers: [observer] });
      expect(resolved.connection).toBe(connection);
      expect(resolved.store).toBe(STORE);
      expect(resolved.observers[0]).toBe(observer);
      for (const one of [connection, STORE, observer]) expect(Object.isFrozen(one)).toBe(false);
    }
    for (const connection of clients({ keyPrefix: 'x:' }))
      expect(() => resolveOptions({ ...REQUIRED, connection })).toThrow(/keyPrefix is not supported/);
  });

  it('are the same if an option is undefined and if it is left out', () => {
    const defaults = resolveOptions(REQUIRED, ...ENVIRONMENT);
    const unset = Object.fromEntries(Object.keys(MODULE_OPTIONS).map((name) => [name, undefined]));

    expect(resolveOptions({ ...unset, ...REQUIRED }, ...ENVIRONMENT)).toEqual(defaults);
    expect(resolveOptions({ ...REQUIRED, jobs: { tick: undefined } }, ...ENVIRONMENT)).toEqual(defaults);
  });

  it('can come from an object of a class, with getters', () => {
    class Options {
      readonly projectName = 'myapp';
      get store(): string {
        return 'memory';
      }
    }

    expect(resolveOptions(new Options(), ...ENVIRONMENT).store).toBe('memory');
  });

  it('take a job that is called like a member of Object.prototype', () => {
    const jobs = JSON.parse('{ "constructor": { "period": 500 }, "__proto__": { "period": 600 } }') as unknown;
    const resolved = resolveOptions({ ...REQUIRED, jobs }, ...ENVIRONMENT);

    expect(resolved.jobs.map(({ job, options }) => [job, options.period])).toEqual([
      ['constructor', 500],
      ['__proto__', 600],
    ]);
  });

  // other texts as a connection: secrets.spec.ts
  it.each([
    'redis://:secret@cache:port',
    new URL('redis://app:secret@127.0.0.1:1'),
    ['redis://app:secret@127.0.0.1:1'],
    { port: 'x', password: 'secret' },
    { keyPrefix: 'x', password: 'secret' },
    { host: 'redis://:secret@127.0.0.1', port: 1 },
    { nodes: ['redis://:secret@h:1'], password: 'secret' },
    { sentinels: [{ host: 'redis://:secret@h:1' }], name: 'main' },
    { postgres: { connectionString: 'postgresql://app:secret%@db/shop' } },
  ])('never show the password of the wrong connection %j', (connection) => {
    const error = caught(() => resolveOptions({ connection, store: connection, timeZone: connection }));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('secret');
  });

  it.each([
    'redis://:p%40ss@cache:6380/3',
    'redis://[::1]:6379/',
    'postgresql://app:pw@/shop?host=/cloudsql/one&port=7832',
    'postgresql://app:p%40w@db/shop?application_name=me@host',
    'postgresql://app:pw@%2Fcloudsql%2Fone/shop',
    { postgres: { connectionString: 'postgresql://app:pw@/shop?host=/cloudsql/one', username: undefined } },
    { postgres: { host: '/cloudsql/one', port: null, poolSize: 2 } },
    { host: 'cache', port: '6379', password: 'x' },
    { path: '/tmp/redis.sock' },
    { sentinels: [{ host: 'a', port: 26379 }], name: 'main' },
    { nodes: ['redis://a:7000', 7001, { host: 'b' }], options: { redisOptions: { password: 'x' } } },
  ])('take the connection %j', (connection) => {
    expect(resolveOptions({ ...REQUIRED, connection }, ...ENVIRONMENT).connection).toEqual(connection);
  });
});

describe('The jobs are switched', () => {
  const enabledWith = (SINGLETON_JOB_ENABLED: string | undefined, options: object): unknown =>
    resolveOptions({ ...REQUIRED, ...options }, { SINGLETON_JOB_ENABLED }).enabled;

  it.each([
    ['false', { enabled: true }, false],
    ['false', { connection: undefined }, false],
    ['true', { enabled: false }, false],
    ['true', {}, true],
    ['', {}, true],
    [undefined, { enabled: false, connection: undefined }, false],
  ])('by SINGLETON_JOB_ENABLED=%s and %j: %s', (variable, options, enabled) => {
    expect(enabledWith(variable, options)).toBe(enabled);
  });

  it.each([{ connection: undefined }, { enabled: false }])(
    'by no other value of the variable, also with %j',
    (options) => {
      const problem =
        "SINGLETON_JOB_ENABLED must be true or false, got 'no': set it to false to run no jobs, or unset it";
      expect(() => enabledWith('no', options)).toThrow(new InvalidOptionsError([problem]));
    },
  );
});

describe('the heartbeat interval', () => {
  it.each([
    [{ lockExpiry: '500ms' }, 125],
    [{ lockExpiry: '801ms' }, 200],
    [{ lockExpiry: '9s', heartbeatInterval: '3s' }, 3_000],
    [{ jobs: { tick: { lockExpiry: '500ms' } } }, 3_000],
    [{ jobs: { tick: { lockExpiry: '1d' } }, heartbeatInterval: '10s', lockExpiry: '30s' }, 10_000],
  ])('of a module with %j is %d ms', (given, heartbeatIntervalMs) => {
    expect(resolveOptions({ ...REQUIRED, ...given }, ...ENVIRONMENT).heartbeatIntervalMs).toBe(heartbeatIntervalMs);
  });
});

describe('warnAfter', () => {
  it('is a duration or false, of the module and of a job', () => {
    const given = { quick: { warnAfter: '100ms' }, never: { warnAfter: false }, silent: {} };
    const { warnAfterMs, jobs } = resolveOptions({ ...REQUIRED, warnAfter: false, jobs: given }, ...ENVIRONMENT);
    const ofJobs = jobs.map((override) => override.options.warnAfter);
    expect([warnAfterMs, ...ofJobs]).toEqual([false, 100, false, undefined]);
  });
});

describe('the node id', () => {
  it.each<[Record<string, string>, string, string | undefined, string]>([
    [{ POD_NAME: 'worker-5' }, 'host-1', undefined, 'worker-5'],
    [{ POD_NAME: 'worker-5' }, 'host-1', 'blue-1', 'blue-1'],
    [{ POD_NAME: '' }, 'host-1', undefined, 'host-1'],
    [{}, "anna's #1 laptop", undefined, "anna's--1-laptop"],
    [{}, '', undefined, 'unknown-host'],
  ])('with the variables %j on the host %j, given as %s, is %s', (variables, hostName, given, nodeId) => {
    expect(resolveOptions({ ...REQUIRED, nodeId: given }, variables, hostName).nodeId).toBe(nodeId);
  });
});
