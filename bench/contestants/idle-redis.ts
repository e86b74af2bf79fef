import { Redis } from 'ioredis';
import { type Start } from './contestant.js';

/** Two idle connections to Redis: a follower cannot be cheaper than this. */
export const start: Start = async ({ settings }) => {
  for (const redis of [new Redis(settings.serverUrl), new Redis(settings.serverUrl)]) await redis.ping();
};
