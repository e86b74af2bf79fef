import { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import { monitored } from '../tools/servers/monitor.js';
import { type StoredJob } from './contestants/time-to-lead.js';
import { type Commands, type Load, type Spent } from './load.js';

/** By INFO, and by MONITOR, which takes CPU time of the server itself. */
export const redisLoad: Load = { spent, commands, stored };

async function spent(url: string, windowMs: number): Promise<Required<Spent>> {
  const redis = new Redis(url);
  try {
    const before = await totals(redis);
    await delay(windowMs);
    const after = await totals(redis);
    const perSecond = (field: keyof Spent): number => ((after[field] - before[field]) / windowMs) * 1_000;
    const [cpuMs, reads] = [perSecond('cpuMs'), perSecond('reads')];
    return { cpuMs, reads, sentKb: perSecond('sentKb'), answeredKb: perSecond('answeredKb') };
  } finally {
    redis.disconnect();
  }
}

async function totals(redis: Redis): Promise<Required<Spent>> {
  const info = await redis.info();
  const valueOf = (field: string): number => Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(info)?.[1]);
  return {
    cpuMs: (valueOf('used_cpu_user') + valueOf('used_cpu_sys')) * 1_000,
    reads: valueOf('total_reads_processed'),
    sentKb: valueOf('total_net_input_bytes') / 1_000,
    answeredKb: valueOf('total_net_output_bytes') / 1_000,
  };
}

async function commands(url: string, windowMs: number): Promise<Commands> {
  let [sent, inScripts] = [0, 0];
  const count = (line: string): void => {
    // of a script it is `[0 lua]`, of a client `[0 127.0.0.1:60866]`
    if (/^[\d.]+ \[\d+ lua\]/.test(line.replace('+', ''))) inScripts++;
    else sent++;
  };
  await monitored(url, count, () => delay(windowMs));
  return { sent: (sent / windowMs) * 1_000, inScripts: (inScripts / windowMs) * 1_000 };
}

async function stored(url: string): Promise<StoredJob[]> {
  const redis = new Redis(url, { retryStrategy: null });
  redis.on('error', () => undefined);
  try {
    const keys = await redis.keys('*:job');
    const texts = keys.length === 0 ? [] : await redis.mget(keys);
    return texts.map((text) => {
      const [, revision, value = ''] = /^(\d+) (.*)$/s.exec(text ?? '') ?? [];
      return { revision: Number(revision), value };
    });
  } finally {
    redis.disconnect();
  }
}
