import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems use for outgoing connections. So the port of a server stays free while the server is
 * down, and a client that retries cannot connect to itself by chance. The nodes of a Redis cluster talk on the ports
 * that are 10,000 higher, which must be neither of both.
 */
const FIRST = 12_000;
const LAST = 21_999;

/** Specs run side by side, each worker of jest with ports of its own: a server that is down keeps its port. */
const SHARES = 8;
const SHARE = (LAST + 1 - FIRST) / SHARES;
const OURS = FIRST + (Number(process.env['JEST_WORKER_ID'] ?? 0) % SHARES) * SHARE;
const given = new Set<number>();

/**
 * A loopback port that is free now and that this process has not used before. Another process may still take it first:
 * then try another port.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(OURS, OURS + SHARE);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${String(OURS)} and ${String(OURS + SHARE - 1)} on 127.0.0.1`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
