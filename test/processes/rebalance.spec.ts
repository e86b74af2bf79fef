import { expect, it } from '@jest/globals';
import { recordedRuns } from '../../tools/replicas/recorded-runs.js';
import { SERVERS } from '../../tools/replicas/servers.js';
import { until } from '../../tools/replicas/until.js';
import { WorkerProcess } from '../../tools/replicas/worker-process.js';

const PERIOD_MS = 12_000;
/** A job is offered about once a minute, and not while it is due within 5 s. */
const EVEN_WITHIN_MS = 200_000;

const VARIABLES = {
  SINGLETON_JOB_PROJECT_NAME: 'rebalance',
  SINGLETON_JOB_REBALANCE: 'true',
  SINGLETON_JOB_LOCK_EXPIRY: '20s',
  SINGLETON_JOB_JOBS__DAILY_REPORT__LOCK_EXPIRY: '20s',
  SINGLETON_JOB_JOBS__DAILY_REPORT__CRON: '0 0 1 1 *',
  SINGLETON_JOB_JOBS__HEARTBEAT__DELAY: '12s',
  SINGLETON_JOB_JOBS__PRICE_TICK__PERIOD: '12s',
};

it.concurrent.each([
  { name: 'Redis', start: SERVERS.redis },
  { name: 'PostgreSQL', start: SERVERS.postgres },
])('Two processes on $name even out three jobs that one of them led, and lose no tick', async ({ start }) => {
  const server = await start();
  const workers: WorkerProcess[] = [];
  const begin = async (node: string): Promise<WorkerProcess> => {
    const worker = new WorkerProcess(node, { ...VARIABLES, SINGLETON_JOB_CONNECTION: server.url });
    workers.push(worker);
    await waitUntil(`${node} is ready`, () => worker.isReady);
    return worker;
  };
  const waitUntil = (what: string, holds: () => boolean, withinMs?: number): Promise<void> =>
    until(what, holds, {
      details: () => workers.flatMap(({ lines }) => lines.map(({ text }) => text)).join('\n'),
      ...(withinMs !== undefined && { withinMs }),
    });
  const led = ({ events }: WorkerProcess): number =>
    events.filter(({ event }) => event === 'leadershipGained').length -
    events.filter(({ event }) => event === 'leadershipReleased').length;
  try {
    const first = await begin('a');
    await waitUntil('the first leads all jobs', () => led(first) === 3);
    const second = await begin('b');
    await waitUntil('the second leads one of them', () => led(second) === 1 && led(first) === 2, EVEN_WITHIN_MS);

    const released = first.events.filter(({ event }) => event === 'leadershipReleased');
    expect(released.map(({ payload }) => payload)).toEqual([
      expect.objectContaining({ reason: 'rebalance', confirmed: true }),
    ]);
    expect(first.lines.filter(({ text }) => text.includes('released leadership (rebalance'))).toHaveLength(1);
    const slots = workers
      .flatMap((worker) => recordedRuns(worker))
      .filter(({ job }) => job === 'price-tick')
      .map(({ scheduledAtMs }) => scheduledAtMs)
      .sort((a, b) => a - b);
    expect(slots.slice(1).map((slot, index) => slot - (slots[index] ?? 0))).toEqual(
      slots.slice(1).map(() => PERIOD_MS),
    );
  } finally {
    await Promise.all(workers.map((worker) => worker.kill()));
    await server.stop();
  }
});
