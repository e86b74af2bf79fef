import { setTimeout as delay } from 'node:timers/promises';
import {
  type Host,
  type Job,
  type JobSpec,
  type Settings,
  type Start,
  type StartTimes,
  type Tick,
} from './contestant.js';

/** One process of one contestant. It reports in the event feed of apps/worker, and answers questions. */
const settings = JSON.parse(process.env['CONTESTANT'] ?? '{}') as Settings;

/** For contestants that give a run no signal. */
const NEVER = new AbortController().signal;

let runs = 0;
let firstRunMs: number | null = null;
/** By period. */
const lateMs: Record<number, number[]> = {};

function report(event: string, payload: object = {}): void {
  send({ event, payload, atMs: Date.now(), node: settings.node, pid: process.pid });
}

function send(message: object): void {
  process.send?.(message, undefined, undefined, () => undefined);
}

/** Counts, and nothing else: what is measured is the contestant. */
function emptyRun(): () => Promise<void> {
  return () => {
    if (runs++ === 0) firstRunMs = performance.now();
    return Promise.resolve();
  };
}

/** Without slots it is the gap to the run before that says how exact a timer is. */
function timedRun({ periodMs }: JobSpec): (tick: Tick) => Promise<void> {
  const late = (lateMs[periodMs] ??= []);
  let beforeMs = NaN;
  return ({ scheduledAt }) => {
    const nowMs = performance.timeOrigin + performance.now();
    const ms = scheduledAt === undefined ? Math.abs(nowMs - beforeMs - periodMs) : nowMs - Number(scheduledAt);
    beforeMs = nowMs;
    if (!Number.isNaN(ms)) late.push(ms);
    return Promise.resolve();
  };
}

function reportedRun({ name: job, takesMs = 0 }: JobSpec): (tick: Tick) => Promise<void> {
  return async ({ scheduledAt: slot, signal = NEVER }) => {
    const run = ++runs;
    const scheduledAt = slot === undefined ? undefined : new Date(slot).toISOString();
    report('runStarted', { job, run, scheduledAt });
    await delay(takesMs, undefined, { signal }).catch(() => undefined);
    report(signal.aborted ? 'runCancelled' : 'runSucceeded', { job, run });
  };
}

function answerTo(question: string): unknown {
  if (question === 'exit') process.exit(1);
  if (question === 'exception') {
    setImmediate(() => {
      throw new Error('thrown on purpose');
    });
    return true;
  }
  if (question === 'lateness') {
    const result = structuredClone(lateMs);
    for (const late of Object.values(lateMs)) late.length = 0;
    return result;
  }
  if (question === 'start') return { importMs, readyMs, firstRunMs } satisfies StartTimes;
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1_000, rssMb: process.memoryUsage.rss() / 2 ** 20, runs };
}

process.on('message', ({ question }: { question: string }) => {
  send({ answers: question, value: answerTo(question) });
});
// it never outlives the benchmark
process.on('disconnect', () => process.exit());

const makeRun = { runs: reportedRun, lateness: timedRun, nothing: emptyRun }[settings.reports];
const jobs = settings.jobs.flatMap(({ count, ...spec }): Job[] => {
  const names = Array.from({ length: count ?? 1 }, (_, i) => (count === undefined ? spec.name : `${spec.name}-${i}`));
  return names.map((name) => ({ ...spec, name, run: makeRun({ ...spec, name }) }));
});
const host: Host = {
  settings,
  jobs,
  leads: (job) => {
    report('leadershipGained', { job });
  },
  onStop: (stop) => {
    process.once('SIGTERM', () => void stop().then(() => process.exit()));
  },
};

const importedFromMs = performance.now();
const { start } = (await import(`./${settings.program}.js`)) as { start: Start };
const importMs = performance.now() - importedFromMs;
await start(host);
const readyMs = performance.now();
report('ready');
