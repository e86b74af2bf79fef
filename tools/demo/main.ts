import { constants } from 'node:os';
import { parseArgs, styleText } from 'node:util';
import { violations } from '../replicas/history.js';
import { WorkerProcess } from '../replicas/worker-process.js';
import { type Job, JOBS, Workers } from '../replicas/workers.js';
import { SERVER_KINDS, SERVERS } from '../servers/servers.js';
import { tool } from '../workspace/command.js';
import { LEGEND, Timeline } from './timeline.js';

/**
 * `npm run demo`: three replicas of apps/worker with a file of SQLite, where Node has it, or a Redis of their own. `--
 * --redis`, `-- --postgres` and `-- --mysql` take another server. One is stopped and one is killed. The exit code is 1
 * if two runs of a job overlapped, or a fencing token did not grow.
 */
const flags = Object.fromEntries(SERVER_KINDS.map((kind) => [kind, { type: 'boolean' } as const]));
const { values } = parseArgs({ options: flags });
const [first = 'redis'] = SERVER_KINDS;
const kind = SERVER_KINDS.find((one) => values[one] === true) ?? first;

/** A test on a busy machine takes a longer one. */
const LOCK_EXPIRY = process.env['DEMO_LOCK_EXPIRY'] ?? '800ms';

/** Everything is quick, so that a hand-over fits into a demo. */
const SETTINGS = {
  SINGLETON_JOB_PROJECT_NAME: 'demo',
  SINGLETON_JOB_LOCK_EXPIRY: LOCK_EXPIRY,
  SINGLETON_JOB_SHUTDOWN_TIMEOUT: '3s',
  SINGLETON_JOB_JOBS__HEARTBEAT__DELAY: '1s',
  SINGLETON_JOB_JOBS__PRICE_TICK__PERIOD: '500ms',
  PRICE_TICK_SLOW_EVERY: '5',
  PRICE_TICK_SLOW_FOR: '1200ms',
  SINGLETON_JOB_JOBS__DAILY_REPORT__CRON: '*/3 * * * * *',
  SINGLETON_JOB_JOBS__DAILY_REPORT__TIME_ZONE: 'UTC',
  SINGLETON_JOB_JOBS__DAILY_REPORT__LOCK_EXPIRY: LOCK_EXPIRY,
  DAILY_REPORT_TAKES: '400ms',
};

/** Each part lasts at least this long, so that there is something to see. */
const PART_MS = 3_000;
/** A run of price-tick that is so old is a slow one, and continues for a moment. */
const [SLOW_FROM_MS, SLOW_TO_MS] = [600, 1_000];
/** The shutdown timeout above, and the time that a process needs to exit. */
const STOP_LIMIT_MS = 8_000;

/** The replicas that the demo has stopped or killed. */
const gone: WorkerProcess[] = [];

const ending = new AbortController();
// the listeners stay, so that a second Ctrl-C does not interrupt the clean-up
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    process.exitCode = 128 + constants.signals[name];
    ending.abort(new Error(`ended by ${name}`));
  });
}

async function demo(url: string): Promise<void> {
  const timeline = new Timeline();
  const all = ['A', 'B', 'C'].map((name) => start(name, url, timeline));
  const workers = Workers.of(...all);
  try {
    timeline.announce('1  Three replicas start: one of them leads each job, the others follow');
    await until(workers, 'all replicas are ready', () => all.every(({ isReady }) => isReady));
    await untilEachJobRuns(workers, 0);

    const stopped = await leaderInSlowRun(workers);
    timeline.announce(`2  ${stopped.node} is stopped in the middle of a slow run: it ends the run, then hands over`);
    timeline.note(styleText('yellow', ` ${stopped.node} gets a SIGTERM`));
    gone.push(stopped);
    await stopped.stop();
    await untilEachJobRuns(workers, stopped.exitedAtMs);

    const killed = await leaderInSlowRun(workers);
    timeline.announce(`3  ${killed.node} is killed in the middle of a run: when its lease has ended, others lead`);
    timeline.note(styleText('red', ` ${killed.node} gets a SIGKILL`));
    gone.push(killed);
    await killed.kill();
    await untilEachJobRuns(workers, killed.exitedAtMs);

    timeline.announce('The end: the last replica is stopped');
    await stopAll(workers);
    timeline.flush();
    summarize(workers, stopped, killed);
  } finally {
    await stopAll(workers);
    timeline.flush();
  }
}

function start(name: string, url: string, timeline: Timeline): WorkerProcess {
  const variables = { ...SETTINGS, SINGLETON_JOB_CONNECTION: url };
  const onEvent = timeline.add.bind(timeline);
  const worker = new WorkerProcess(name, variables, { stopsWithParent: true, onEvent });
  void worker.exited.then(() => {
    timeline.addExit(name, worker.exitedAtMs);
  });
  return worker;
}

/** Rejects when the demo is ended, and when a replica crashes. */
function until<T>(workers: Workers, what: string, look: () => T | false | undefined): Promise<T> {
  return workers.until(what, () => {
    ending.signal.throwIfAborted();
    const crashed = workers.all.find((worker) => worker.hasExited && !gone.includes(worker));
    if (crashed === undefined) return look();
    throw new Error([`${crashed.node} crashed`, ...crashed.lines.slice(-20).map(({ text }) => text)].join('\n'));
  });
}

function untilEachJobRuns(workers: Workers, sinceMs: number): Promise<unknown> {
  const partEndsAtMs = Date.now() + PART_MS;
  const runsAgain = (job: Job): boolean => workers.runs(job).some(({ startedAtMs }) => startedAtMs > sinceMs);
  return until(workers, 'each job runs', () => Date.now() > partEndsAtMs && JOBS.every(runsAgain));
}

function leaderInSlowRun(workers: Workers): Promise<WorkerProcess> {
  return until(workers, 'price-tick has a slow run', () => {
    const run = workers.runs('price-tick').at(-1);
    const ageMs = Date.now() - (run?.startedAtMs ?? 0);
    const isSlow = run?.outcome === undefined && ageMs > SLOW_FROM_MS && ageMs < SLOW_TO_MS;
    return isSlow && workers.running.find(({ node }) => node === run?.node);
  });
}

async function stopAll(workers: Workers): Promise<void> {
  const limit = setTimeout(() => void workers.kill(), STOP_LIMIT_MS);
  await workers.stop();
  clearTimeout(limit);
}

/** Says in one line that something goes on, with one more dot each second. Returns what ends the line. */
function showProgress(words: string): () => void {
  const show = (text: string): boolean => process.stdout.write(styleText('dim', text));
  show(` ${words} .`);
  const dots = setInterval(show, 1_000, '.').unref();
  return () => {
    clearInterval(dots);
    show('\n');
  };
}

/** How long each hand-over took, and what went wrong. */
function summarize(workers: Workers, stopped: WorkerProcess, killed: WorkerProcess): void {
  console.log();
  const runs = workers.runs();
  const last = workers.runs('price-tick').findLast(({ node }) => node === stopped.node);
  for (const [end, endedAtMs] of [
    [`the last run of ${stopped.node} had ended`, last?.endedAtMs ?? NaN],
    [`${killed.node} was killed`, killed.exitedAtMs],
  ] as const) {
    const gained = workers.eventsOf('price-tick', 'leadershipGained');
    const next = gained.find(({ atMs }) => atMs >= endedAtMs);
    console.log(` ${next?.node ?? 'Nobody'} led price-tick ${(next?.atMs ?? NaN) - endedAtMs} ms after ${end}.`);
  }
  const faults = violations(runs);
  if (faults.length > 0) process.exitCode = 1;
  for (const fault of faults) console.log(styleText('red', ` ${fault}`));
  if (faults.length === 0) console.log(styleText('green', ` ${runs.length} runs. No two runs of a job overlapped.`));
}

try {
  console.log(`\n ${styleText('bold', 'nestjs-singleton-job')}: three replicas, and each job runs on one of them.`);
  const endProgress = showProgress(`Building the worker, starting ${kind}`);
  await tool('build.ts', ['worker']);
  await using server = await SERVERS[kind]();
  ending.signal.throwIfAborted();
  endProgress();
  console.log(styleText('dim', ` ${server.url}, from ${server.source}`));
  console.log(LEGEND);
  await demo(server.url);
} catch (error) {
  if (!(error instanceof Error)) throw error;
  console.log(`\n ${styleText('red', error.message)}`);
  if (!ending.signal.aborted) process.exitCode = 1;
}
