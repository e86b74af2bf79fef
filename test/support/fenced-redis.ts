import { type Redis } from 'ioredis';
import { StaleLeaderError } from './fenced-errors.js';

// The code of docs/fencing.md: a test compares the page with this file, paragraph by paragraph.

const SET_FENCED = `
  local newest = tonumber(redis.call('GET', KEYS[2]) or '0')
  if tonumber(ARGV[2]) < newest then return 0 end
  redis.call('SET', KEYS[1], ARGV[1])
  redis.call('SET', KEYS[2], ARGV[2])
  return 1`;

export async function putPrice(redis: Redis, symbol: string, price: string, token: number): Promise<void> {
  const keys = [`{price:${symbol}}:value`, `{price:${symbol}}:token`];
  const isWritten = await redis.eval(SET_FENCED, keys.length, ...keys, price, token);
  if (isWritten === 0) throw new StaleLeaderError('the price has a larger token');
}
