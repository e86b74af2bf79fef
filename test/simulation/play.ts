import { InMemoryLockStore, type LockStore } from '../../libs/singleton-job/src/lock/index.js';
import { resolveOptions } from '../../libs/singleton-job/src/options/index.js';
import { cron, type CronSchedule } from '../../libs/singleton-job/src/schedule/index.js';
import { check, type History, type Violation } from '../support/checker.js';
import { dueOccurrences } from '../support/due-occurrences.js';
import { Chance } from './chance.js';
import { Place } from './place.js';
import { faultInWords, JOBS, type Plan, type Setting } from './plan.js';
import { type ClockFaults, EPOCH_MS, ProcessClock } from './process-clock.js';
import { ServerLine } from './server-line.js';
import { simulatedJobs } from './simulated-jobs.js';
import { ServerWatch } from './server-watch.js';
import { libraryProgram, type Program, SimulatedProcess } from './simulated-process.js';
import { type Stage, strike } from './strike.js';
import { TRAVEL_MS } from './weather.js';
import { Witness } from './witness.js';
import { World } from './world.js';

/** Replaces the store of each process by a worse one, to show that the checker notices. */
export type Sabotage = (store: LockStore) => LockStore;

/** How a story is played that is not played as usual. */
export interface Staging {
  readonly sabotage?: Sabotage;
  /** What runs in the process of this name, such as `a1`: `a` is the place, 1 the first process in it. @default the library */
  readonly programOf?: (name: string) => Program;
  /** Is told everything that happens, in a line each. */
  readonly tell?: (line: string) => void;
}

export interface Outcome {
  readonly history: History;
  readonly violations: readonly Violation[];
}

const PLACES = 'abcdefgh';
/** Two clocks of a story, and true time, differ by no more than this part. */
const DRIFT = 0.005;
/** Clocks are read in whole milliseconds. */
const TOLERANCE_MS = 2;

/** Plays a story: its faults, a calm after them, and what the checker says of it. The same plan is the same story. */
export async function play(plan: Plan, staging: Staging = {}): Promise<Outcome> {
  const { setting } = plan;
  const world = new World();
  const serverClock = new ProcessClock(world, { aheadMs: 0, rate: setting.serverRate });
  const server = new InMemoryLockStore(serverClock);
  const watch = new ServerWatch(world, server, setting.serverRate);
  const witness = new Witness(world, watch, staging.tell);
  const stage = setStage({ plan, world, witness, server, serverClock, staging });
  plan.clocks.forEach((clock, index) => stage.places[index]?.start(clock));
  for (const fault of plan.faults) {
    world.after(fault.atMs, () => {
      witness.note(`*** ${faultInWords(fault)}`);
      strike(fault, stage);
    });
  }
  await world.passUntil(setting.faultsForMs + setting.calmForMs);
  const history = historyOf(witness, { plan, untilMs: world.nowMs });
  const violations = check(history);
  for (const { process } of stage.places) process?.kill();
  return { history, violations };
}

interface StageParts {
  readonly plan: Plan;
  readonly world: World;
  readonly witness: Witness;
  readonly server: InMemoryLockStore;
  readonly serverClock: ProcessClock;
  readonly staging: Staging;
}

function setStage({ plan, world, witness, server, serverClock, staging }: StageParts): Stage {
  const { sabotage, programOf = () => libraryProgram } = staging;
  const { setting, seed } = plan;
  const line = new ServerLine(world);
  // the smallest lease that options allow is larger than those of a simulation need to be
  const options = {
    ...resolveOptions({ projectName: 'test', store: server }),
    heartbeatIntervalMs: setting.heartbeatIntervalMs,
    lockExpiryMs: setting.lockExpiryMs,
    shutdownTimeoutMs: setting.shutdownTimeoutMs,
    maxBackoffDelayMs: 3 * setting.heartbeatIntervalMs,
  };
  const start = (name: string, clockFaults: ClockFaults): SimulatedProcess =>
    new SimulatedProcess(name, {
      world,
      witness,
      line,
      options,
      server,
      clockFaults,
      commands: sabotage === undefined ? server : sabotage(server),
      chance: Chance.of(seed, `${name}'s network`),
      random: Chance.of(seed, `${name}'s own chance`).next,
      program: programOf(name),
      cron: cronAt(world.nowMs, setting),
      jobs: (process, cron) => simulatedJobs(process, { plan, cron, witness, server }),
    });
  const places = plan.clocks.map((_, index) => new Place(PLACES.charAt(index), start));
  return { world, places, server, serverClock, line, witness };
}

function historyOf(
  { runs, reports, drops, terms, confirmations, sights, refusals, processes, faults, server }: Witness,
  { plan, untilMs }: { plan: Plan; untilMs: number },
): History {
  const { restForMs, heartbeatIntervalMs, lockExpiryMs, shutdownTimeoutMs, delayMs, misfireGraceMs } = plan.setting;
  const { cronSeconds, nextCronSeconds } = plan.setting;
  return {
    runs,
    reports,
    drops,
    terms,
    confirmations,
    sights,
    refusals,
    processes,
    faults,
    steps: server.steps,
    holdings: server.holdings,
    settings: {
      heartbeatIntervalMs,
      lockExpiryMs,
      shutdownTimeoutMs,
      misfireGraceMs: new Map([['cron', misfireGraceMs]]),
      delayMs: new Map([['pause', delayMs]]),
      drift: DRIFT,
      travelMs: TRAVEL_MS,
      toleranceMs: TOLERANCE_MS,
      epochMs: EPOCH_MS,
    },
    endMs: untilMs,
    grids: new Map([['grid', plan.setting.periodMs]]),
    // where the schedule changed, those that both versions have
    due: new Map([['cron', dueOccurrences(cronOf(Math.max(cronSeconds, nextCronSeconds)), 'cron', { runs, reports })]]),
    ...(restForMs > 0 && { calm: { fromMs: untilMs - restForMs, untilMs, jobs: JOBS, epochMs: EPOCH_MS } }),
  };
}

/** The schedule of the version that processes run which start now. */
function cronAt(nowMs: number, { cronSeconds, nextCronSeconds, rollOutMs, rollBackMs }: Setting): CronSchedule {
  return cronOf(rollOutMs <= nowMs && nowMs < rollBackMs ? nextCronSeconds : cronSeconds);
}

const schedules = new Map<number, CronSchedule>();

function cronOf(seconds: number): CronSchedule {
  const known = schedules.get(seconds);
  if (known !== undefined) return known;
  const made = cron(`*/${seconds} * * * * *`, { timeZone: 'UTC', jobName: 'cron' });
  schedules.set(seconds, made);
  return made;
}
