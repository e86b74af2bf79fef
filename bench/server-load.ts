import { setTimeout as delay } from 'node:timers/promises';
import { type Row } from './figures.js';
import { type Load } from './load.js';
import { type Scale } from './measure.js';
import { postgresLoad } from './postgres-load.js';
import { redisLoad } from './redis-load.js';
import { type Replicas } from './replicas.js';
import { type BenchServer, Servers } from './servers.js';

export const LOADS: Readonly<Record<BenchServer, Load>> = { redis: redisLoad, postgres: postgresLoad };

/** What replicas that have just started cost their server, above an idle server of its kind in the same window. */
export async function serverLoad({ contestant, server }: Replicas, { pick }: Scale): Promise<Row['cells']> {
  const { spent, commands } = LOADS[contestant.server];
  await using servers = new Servers();
  const idleServer = await servers.of(contestant.server);
  // by then each replica has read each record
  await delay(pick(10_000, 500));
  // leaders write their records every 10 s, so the window is two of these
  const windowMs = pick(20_000, 2_000);
  const [busy, idle] = await Promise.all([spent(server.url, windowMs), spent(idleServer.url, windowMs)]);
  const { sent, inScripts } = await commands(server.url, windowMs);
  // the idle server is read only for this measurement
  const above = (field: keyof typeof busy): number | string =>
    busy[field] === undefined ? '' : busy[field] - (idle[field] ?? 0);
  return {
    'commands per s': sent,
    'inside scripts per s': inScripts ?? '',
    'reads of sockets per s': above('reads'),
    'kB per s to the server': above('sentKb'),
    'kB per s from the server': above('answeredKb'),
    'server CPU, ms per s': busy.cpuMs,
    'above an idle server': busy.cpuMs - idle.cpuMs,
  };
}
