import { describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { resolve } from 'node:path';
import pg from 'pg';
import { type ResolvedOptions } from '../resolve-options.js';
import { describeStore } from './describe-connection.js';

const { Pool } = pg;
const lazyConnect = true;
const SENTINEL = { name: 'main', sentinels: [{ host: 's1' }, { host: 's2', port: 1 }], password: 'secret' };
const NODES = ['redis://:secret@a:1', 'b:2', 7000, { host: 'd' }];

describe('The log says where the locks are, without a secret:', () => {
  it.each<[string, NonNullable<ResolvedOptions['connection']>]>([
    ['redis://cache', 'redis://cache'],
    ['rediss://…@10.0.0.5:6380/…', 'rediss://user:secret@10.0.0.5:6380/3?password=secret'],
    ['redis://[::1]:6379', 'redis://[::1]:6379'],
    ['Redis at localhost:6379', {}],
    ['Redis at ::1:1', { host: '::1', port: 1, db: 2, tls: {}, password: 'secret' }],
    ['Redis at /run/redis.sock', { path: '/run/redis.sock' }],
    ['Redis of Sentinel at s1:26379, s2:1', SENTINEL],
    ['Redis Cluster at a:1, b:2, localhost:7000 and 1 more', { nodes: NODES }],
    ['Redis at cache:7', new Redis('redis://user:secret@cache:7/3', { lazyConnect })],
    ['Redis of Sentinel at s1:26379, s2:1', new Redis({ ...SENTINEL, lazyConnect })],
    ['Redis Cluster at a:1, b:2, localhost:7000 and 1 more', new Cluster(NODES, { lazyConnect })],
    ['postgresql://…@db/…', 'postgresql://user:secret@db/shop?password=secret'],
    ['PostgreSQL at db/…', { postgres: { connectionString: 'postgres://user:secret@db/shop' } }],
    ['PostgreSQL at db:5433', { postgres: new Pool({ host: 'db', port: 5433, database: 'shop', password: 'x' }) }],
    ['PostgreSQL at localhost:5432', { postgres: {} }],
    [`sqlite:${resolve('my jobs.db')}`, 'sqlite:./my jobs.db'],
    ['sqlite:/var/lib/my jobs.db', 'sqlite:///var/lib/my%20jobs.db'],
    ['MySQL at db:3306', { mysql: { host: 'db', database: 'shop', password: 'secret' } }],
  ])('%s', (shown, connection) => {
    expect(describeStore({ store: undefined, connection })).toBe(shown);
  });

  it('memory, also beside a connection, which is then not used', () => {
    expect(describeStore({ store: 'memory', connection: 'redis://cache' })).toBe('memory');
    expect(describeStore({ store: undefined, connection: undefined })).toBeUndefined();
  });
});
