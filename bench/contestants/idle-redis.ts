import { Redis } from 'ioredis';
import { type Start } from './contestant.js';

/** Two connections to Redis that nobody uses: what a follower cannot be cheaper than. */
export const start: Start = async ({ settings }) => {
  for (const redis of [new Redis(settings.redisUrl), new Redis(settings.redisUrl)]) await redis.ping();
};
