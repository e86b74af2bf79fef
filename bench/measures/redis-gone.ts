import { setTimeout as delay } from 'node:timers/promises';
import { overlaps } from '../../tools/replicas/history.js';
import { rivals } from '../contestants.js';
import { type Row } from '../figures.js';
import { type Measure, repeat, sideBySide } from '../measure.js';
import { HALF_SECOND, Replicas } from '../replicas.js';

export const redisGone: Measure = {
  name: 'redis-gone',
  title: 'Redis hangs',
  about:
    'Three replicas, one job of 500 ms with runs of 200 ms. Redis is halted for 10 s (SIGSTOP): connections stay open and nothing is ' +
    'answered. Log lines are those of all replicas, until 3 s after Redis answers again, without those of debug level.',
  mostlyWaits: true,
  run: ({ isQuick, pick }) =>
    sideBySide(rivals(isQuick), async (one) => {
      await using replicas = await Replicas.start(one, { jobs: [HALF_SECOND], count: pick(3, 2) });
      return await repeat(pick(2, 1), () => measure(replicas, pick(10_000, 2_000)));
    }),
};

async function measure(replicas: Replicas, hangMs: number): Promise<Row['cells']> {
  await replicas.freshRun();
  await delay(2_000);
  const goneAtMs = Date.now();
  await replicas.server.pause();
  await delay(hangMs);
  await replicas.server.resume();
  const backAtMs = Date.now();
  const next = await replicas.runAfter(backAtMs);
  await delay(3_000);
  const lines = replicas.all
    .flatMap((replica) => replica.lines)
    .filter(({ atMs, text }) => atMs > goneAtMs && !text.includes('DEBUG'));
  const since = replicas.runs.filter(({ startedAtMs }) => startedAtMs > goneAtMs);
  return {
    'runs meanwhile': since.filter(({ startedAtMs }) => startedAtMs <= backAtMs).length,
    'back to the next run, ms': next.startedAtMs - backAtMs,
    'overlapping pairs': overlaps(since).length,
    'log lines': lines.length,
  };
}
