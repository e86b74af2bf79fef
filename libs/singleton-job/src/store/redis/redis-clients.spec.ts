import { describe, expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { newClient } from './redis-clients.js';

const VERSIONS: [string, typeof Cluster][] = [
  ['ioredis 6', Cluster],
  ['ioredis 5', Cluster5 as unknown as typeof Cluster],
];

describe('A client of a cluster that is passed', () => {
  it.each(VERSIONS)(
    'with %s is duplicated with its nodes, user, password and TLS, and the settings of the library',
    async (_, Client) => {
      const redisOptions = { username: 'app', password: 'secret', tls: { ca: 'of the server' } };
      const original = new Client(['redis-0:6379'], {
        lazyConnect: true,
        redisOptions: { ...redisOptions, stringNumbers: true },
      });
      const client = await newClient(original, 10_000, 1_500);
      const ours = { connectTimeout: 1_500, stringNumbers: false };
      expect(client.options).toMatchObject({ redisOptions: { ...redisOptions, ...ours } });
      expect(Reflect.get(client, 'startupNodes')).toEqual(['redis-0:6379']);
    },
  );
});
