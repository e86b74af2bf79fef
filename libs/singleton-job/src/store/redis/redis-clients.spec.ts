import { describe, expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { newClient } from './redis-clients.js';

const VERSIONS: [string, typeof Cluster][] = [
  ['ioredis 6', Cluster],
  ['ioredis 5', Cluster5 as unknown as typeof Cluster],
];

describe('A client of a cluster that is passed', () => {
  it.each(VERSIONS)('with %s is duplicated with its nodes, user, password and TLS', async (_, Client) => {
    const redisOptions = { username: 'app', password: 'secret', tls: { ca: 'of the server' } };
    const client = await newClient(new Client(['redis-0:6379'], { lazyConnect: true, redisOptions }), 10_000, 1_500);
    expect(client.options).toMatchObject({ redisOptions: { ...redisOptions, connectTimeout: 1_500 } });
    expect(Reflect.get(client, 'startupNodes')).toEqual(['redis-0:6379']);
  });
});
