import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { parseArgs, styleText } from 'node:util';
import { Redis } from 'ioredis';
import { provideRedis, RedisServer } from '../replicas/redis/index.js';
import { node } from '../workspace/command.js';
import { drawPicture } from './picture.js';
import { Replicas } from './replicas.js';
import { playScenario, watch } from './scenario.js';
import { summarize } from './summary.js';
import { LEGEND, Timeline } from './timeline.js';

/**
 * `npm run demo`: three replicas of apps/worker on a real Redis. One is stopped and one is killed. A table shows what happened.
 * The exit code is 1 if a promise of the library was broken.
 * `-- --watch` runs until Ctrl-C, so that you can kill replicas yourself. `-- --svg docs/timeline.svg` draws what happened.
 */
const { values: options } = parseArgs({ options: { watch: { type: 'boolean' }, svg: { type: 'string' } } });

const HAND_OVER =
  ' Hand-over: the slowest time from the end of the last run (SIGTERM) or of the process (SIGKILL) to the next leader.';
const NO_FAULTS = ' No two runs of a job overlapped. Each day of daily-report ran once, or was reported as not run.';

const ending = new AbortController();
const { signal } = ending;
// the listeners stay, so that a second Ctrl-C does not interrupt the clean-up
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    process.exitCode = 128 + constants.signals[name];
    ending.abort(new Error(`ended by ${name}`));
  });
}
process.stdout.on('error', () => {
  process.exitCode = 128 + constants.signals.SIGPIPE;
  ending.abort(new Error('nothing reads the output of the demo'));
});

/** Resolves with what went wrong. No replica is left, also when the demo ends early. */
async function demo(redisUrl: string, project: string): Promise<readonly string[]> {
  console.log(LEGEND);
  const timeline = new Timeline();
  const replicas = new Replicas({ SINGLETON_JOB_CONNECTION: redisUrl, SINGLETON_JOB_PROJECT_NAME: project }, timeline);
  try {
    await playScenario({ replicas, timeline, signal });
    if (options.svg !== undefined) {
      const [job, { events, workers }] = ['price-tick', replicas] as const;
      await writeFile(options.svg, drawPicture({ job, events, runs: workers.runs(job), endMs: Date.now() }));
    }
    if (options.watch === true) await watch({ replicas, timeline, signal });
    timeline.announce('The end: the remaining replicas are stopped');
  } finally {
    await replicas.stopAll();
    timeline.flush();
  }
  const { table, faults } = summarize(replicas.events, replicas.workers.runs());
  const failed = [' Something went wrong:', ...faults.map((fault) => ` - ${fault}`)].join('\n');
  const verdict = faults.length === 0 ? styleText('green', NO_FAULTS) : styleText('red', failed);
  console.log(['', ...table, '', styleText('dim', HAND_OVER), '', verdict, ''].join('\n'));
  return faults;
}

/** The demo on a Redis that is not its own: it removes its keys. */
async function demoOnBorrowed(redisUrl: string, project: string): Promise<readonly string[]> {
  const client = new Redis(redisUrl, { maxRetriesPerRequest: 1, connectTimeout: 3_000 });
  // the requests reject
  client.on('error', () => undefined);
  try {
    await client.ping().catch((cause: unknown) => {
      // without the URL, which may contain a password
      throw new Error('the Redis of REDIS_URL does not answer: start it, or unset REDIS_URL', { cause });
    });
    try {
      return await demo(redisUrl, project);
    } finally {
      for await (const keys of client.scanStream({ match: `*${project}:*`, count: 1_000 }) as AsyncIterable<string[]>) {
        for (const key of keys) await client.del(key);
      }
    }
  } finally {
    client.disconnect();
  }
}

try {
  const title = styleText('bold', 'nestjs-singleton-job');
  console.log(`\n ${title}: three replicas of an application, and each job runs on one of them.`);
  console.log(styleText('dim', ' Building the worker, looking for a Redis …'));
  await node('tsx/dist/cli.mjs', ['tools/build.ts', 'worker']);
  await using redis = await provideRedis();
  signal.throwIfAborted();
  const own = redis instanceof RedisServer ? redis : undefined;
  const from = own === undefined ? 'the one of REDIS_URL' : `${own.url}, from ${own.source.replace(/ sha=[^)]*/, '')}`;
  console.log(styleText('dim', ` Redis: ${from}.`));
  // a borrowed Redis may have other users, even another demo
  const project = `demo-${randomBytes(4).toString('hex')}`;
  const faults = await (own === undefined ? demoOnBorrowed(redis.url, project) : demo(redis.url, project));
  process.exitCode = faults.length === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof Error)) throw error;
  console.log(`\n ${styleText('red', error.message)}`);
  if (!signal.aborted) process.exitCode = 1;
}
