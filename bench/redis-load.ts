import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { monitored } from '../tools/replicas/redis/monitor.js';

/** What clients send to a Redis in a second. What scripts execute does not count. */
export async function commandsPerSecond(url: string, windowMs: number): Promise<number> {
  let commands = 0;
  const count = (line: string): void => {
    // of a script it is `[0 lua]`, of a client `[0 127.0.0.1:60866]`
    if (!/^[\d.]+ \[\d+ lua\]/.test(line.replace('+', ''))) commands++;
  };
  await monitored(url, count, () => delay(windowMs));
  return (commands / windowMs) * 1_000;
}

/** CPU time that a Redis uses, in milliseconds per second. */
export async function redisCpu(url: string, windowMs: number): Promise<number> {
  const redis = new Redis(url);
  try {
    const before = await cpuMs(redis);
    await delay(windowMs);
    return (((await cpuMs(redis)) - before) / windowMs) * 1_000;
  } finally {
    redis.disconnect();
  }
}

async function cpuMs(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const [user, system] = ['user', 'sys'].map((part) => new RegExp(`^used_cpu_${part}:([\\d.]+)`, 'm').exec(info)?.[1]);
  return (Number(user) + Number(system)) * 1_000;
}
