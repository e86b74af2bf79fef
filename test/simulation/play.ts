import { resolveOptions } from '../../libs/singleton-job/src/options/resolve-options.js';
import { cron } from '../../libs/singleton-job/src/schedule/cron/cron.js';
import { type CronSchedule } from '../../libs/singleton-job/src/schedule/schedule.js';
import { InMemoryLockStore } from '../../libs/singleton-job/src/store/memory/in-memory-store.js';
import { TestServer } from '../../libs/singleton-job/src/testing/index.js';
import { Chance } from './chance.js';
import { Place } from './place.js';
import { Calm } from './calm.js';
import { calmChecks } from './calm-checks.js';
import { leaderBoundMs } from './leader-bounds.js';
import {
  faultInWords,
  hasOnlyEnds,
  type JobName,
  keepsInterval,
  longestExpiryMs,
  type Plan,
  type Setting,
  type Version,
} from './plan.js';
import { type ClockFaults, ProcessClock } from './process-clock.js';
import { type History, type Violation } from './history.js';
import { check } from './rules.js';
import { simulatedJobs } from './simulated-jobs.js';
import { SimulatedCluster } from './simulated-cluster.js';
import { LockWatch } from './simulated-locks.js';
import { SimulatedProcess } from './simulated-process.js';
import { SimulatedServer } from './simulated-server.js';
import { type StoryContext, inject } from './inject.js';
import { keepsCron } from './occurrence-watch.js';
import { Recorder } from './recorder.js';
import { Timeline } from './timeline.js';

/** Replaces the server of the processes by a faulty one, to show that the rules notice it. */
export type ServerMutation = (server: TestServer) => TestServer;

/** Options for playing a scenario. */
export interface PlayOptions {
  readonly mutate?: ServerMutation;
  /** Called with a line for everything that happens. */
  readonly print?: (line: string) => void;
}

export interface Outcome {
  readonly history: History;
  readonly violations: readonly Violation[];
}

const PLACES = 'abcdefgh';

/** Plays a scenario: its faults, a calm after them, and the rules that it breaks. The same plan is the same scenario. */
export async function play(plan: Plan, options: PlayOptions = {}): Promise<Outcome> {
  const { setting } = plan;
  const timeline = new Timeline();
  const serverClock = new ProcessClock(timeline, { aheadMs: 0, rate: setting.serverRate });
  const data = setting.isCluster ? new SimulatedCluster(serverClock) : new TestServer(serverClock);
  const onlyEnds = hasOnlyEnds(plan);
  const isOrderly = (job: JobName, sinceMs: number): boolean =>
    // no replica takes a lock that is released in the first lease of a server
    sinceMs > (onlyEnds ? 2 * longestExpiryMs(setting) : calm.sinceMs + leaderBoundMs(plan, job, calm.sinceMs));
  const disturb = (): void => {
    calm.disturbed();
  };
  const { print } = options;
  // with a server that is wrong, moves never end
  const onMove = (): void => {
    if (timeline.nowMs < 2 * setting.faultsForMs) disturb();
  };
  const recorder = new Recorder({ timeline, setting, server: data, onlyEnds, isOrderly, onMove, print });
  const server = new SimulatedServer({ timeline, data, isProxied: setting.isProxied, arrivedLate: disturb });
  const locks = new LockWatch(timeline, recorder);
  const places = placesOf({ plan, timeline, recorder, server, locks, mutate: options.mutate });
  const calm = new Calm(timeline, calmChecks({ plan, recorder, server, locks }));
  const context: StoryContext = { plan, timeline, places, server, serverClock, recorder, disturb };
  plan.clocks.forEach((clock, index) => places[index]?.start(clock));
  for (const fault of plan.faults) {
    timeline.at(fault.atMs, () => {
      recorder.note(`*** ${faultInWords(fault)}`);
      inject(fault, context);
    });
  }
  await timeline.passUntil(setting.faultsForMs);
  while (timeline.nowMs < calm.endsMs) {
    for (const { process } of places) process?.spare();
    await timeline.passUntil(calm.endsMs);
  }
  const history: History = {
    // the runs in flight have run until now
    runs: recorder.runs.map((run) => ({ endedMs: timeline.nowMs, ...run })),
    doubleLeads: recorder.doubleLeads,
    vacancies: recorder.vacancies,
    grants: recorder.grants,
    leaderships: recorder.leaderships,
    // by the slowest clock
    stayMs: 0.99 * (setting.rebalance?.stayMs ?? 0),
    windows: recorder.windows,
    intervals: new Map(keepsInterval(setting) ? [['pause', setting.delayMs]] : []),
    crons: new Map(keepsCron(setting) ? [['cron', recorder.occurrences.job]] : []),
  };
  for (const { process } of places) process?.kill();
  return { history, violations: check(history) };
}

interface PlaceParts {
  readonly plan: Plan;
  readonly timeline: Timeline;
  readonly recorder: Recorder;
  readonly server: SimulatedServer;
  readonly locks: LockWatch;
  readonly mutate: ServerMutation | undefined;
}

function placesOf({ plan, timeline, recorder, server, locks, mutate }: PlaceParts): Place[] {
  const { setting, seed } = plan;
  const { data } = server;
  const options = {
    ...resolveOptions({ projectName: 'test', store: new InMemoryLockStore(data) }),
    heartbeatIntervalMs: setting.heartbeatIntervalMs,
    shutdownTimeoutMs: setting.shutdownTimeoutMs,
    rebalance: setting.rebalance,
    // jobs with another one do not move
    lockExpiryMs: setting.version.lockExpiryMs.grid,
  };
  const start = (hasThread: boolean, name: string, clockFaults: ClockFaults): SimulatedProcess => {
    const version = versionAt(timeline.nowMs, setting);
    return new SimulatedProcess(name, {
      timeline,
      recorder,
      server,
      options,
      clockFaults,
      data: mutate === undefined ? data : mutate(data),
      chance: Chance.of(seed, `${name}'s network`),
      earlyMs: earlyTimers(setting, Chance.of(seed, `${name}'s timers`)),
      threadChance: hasThread ? Chance.of(seed, `${name}'s thread`) : undefined,
      lock:
        setting.lockExpiryMs === undefined
          ? undefined
          : { watch: locks, expiryMs: setting.lockExpiryMs, chance: Chance.of(seed, `${name}'s locks`) },
      random: Chance.of(seed, `${name}'s own chance`).next,
      jobs: (process) => simulatedJobs(process, { plan, version, recorder, cron: cronOf(version.cronSeconds) }),
    });
  };
  return plan.clocks.map((_, index) => {
    const hasThread = setting.threads[index] === true;
    return new Place(PLACES.charAt(index), (name, clock) => start(hasThread, name, clock));
  });
}

/** How early the next timer of a process fires. */
function earlyTimers({ earlyTimersMs }: Setting, chance: Chance): () => number {
  return earlyTimersMs === 0 ? () => 0 : () => chance.between(0, earlyTimersMs);
}

/** The version of the application that new processes run. */
function versionAt(nowMs: number, { version, next, rollOutMs, rollBackMs }: Setting): Version {
  return rollOutMs <= nowMs && nowMs < rollBackMs ? next : version;
}

const schedules = new Map<number, CronSchedule>();

function cronOf(seconds: number): CronSchedule {
  const known = schedules.get(seconds);
  if (known !== undefined) return known;
  const made = cron(`*/${seconds} * * * * *`, { timeZone: 'UTC', jobName: 'cron' });
  schedules.set(seconds, made);
  return made;
}
