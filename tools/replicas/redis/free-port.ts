import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems hand out to outgoing connections: nobody else is given the port while a server is down, and a
 * client that keeps trying to reach it cannot happen to connect to itself.
 */
const FIRST = 20_000;
const LAST = 31_999;

/** Specs run side by side, each worker of jest with ports of its own: a server that is down keeps its port. */
const SHARES = 8;
const SHARE = (LAST + 1 - FIRST) / SHARES;
const OURS = FIRST + (Number(process.env['JEST_WORKER_ID'] ?? 0) % SHARES) * SHARE;
const given = new Set<number>();

/**
 * A loopback port that nobody listens on right now, and that was not given to anybody in this process before. Another process may still be
 * faster: whoever uses it tries another then.
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

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, '127.0.0.1', () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
