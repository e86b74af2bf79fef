import { describe, expect, it } from '@jest/globals';
import { freePort } from '../free-port.js';
import { provideRedis } from './provide-redis.js';
import { isSupported } from './redis-binary.js';

describe('the Redis of the tests', () => {
  it.each([
    ['Redis server v=6.0.16 sha=0', false],
    ['Redis server v=6.2.0 sha=0', true],
    ['Redis server v=7.0.15 sha=0', true],
    ['Redis server v=10.0.0 sha=0', true],
    ['Valkey server v=8.0.1 sha=0', true],
    ['something else', false],
  ])('takes %s as a version it can use: %s', (version, expected) => {
    expect(isSupported(version)).toBe(expected);
  });

  it('uses ports below those of outgoing connections', async () => {
    const port = await freePort();
    expect(port).toBeGreaterThanOrEqual(20_000);
    expect(port).toBeLessThan(32_000);
  });

  it('does not give a port twice', async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, freePort));
    expect(new Set(ports).size).toBe(ports.length);
  });

  it('borrows the server of REDIS_URL and leaves it running', async () => {
    const before = process.env['REDIS_URL'];
    process.env['REDIS_URL'] = 'redis://redis.example:6379';
    try {
      const redis = await provideRedis();
      expect(redis.url).toBe('redis://redis.example:6379');
      await redis.stop();
    } finally {
      if (before === undefined) delete process.env['REDIS_URL'];
      else process.env['REDIS_URL'] = before;
    }
  });
});
