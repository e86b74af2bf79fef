import { InMemoryLockStore, type LockStore } from '../../libs/singleton-job/src/store/index.js';
import { resolveOptions } from '../../libs/singleton-job/src/options/index.js';
import { cron, type CronSchedule } from '../../libs/singleton-job/src/schedule/index.js';
import { Chance } from './chance.js';
import { Place } from './place.js';
import { faultInWords, type Plan, safetyMarginMs, type Setting } from './plan.js';
import { type ClockFaults, ProcessClock } from './process-clock.js';
import { check, type History, type Violation } from './rules.js';
import { ServerLine } from './server-line.js';
import { SETTLES_WITHIN, simulatedJobs } from './simulated-jobs.js';
import { SimulatedProcess } from './simulated-process.js';
import { type Stage, strike } from './strike.js';
import { Witness } from './witness.js';
import { World } from './world.js';

/** Replaces the store of each process by a worse one, to show that the rules notice. */
export type Sabotage = (store: LockStore) => LockStore;

/** How a story is played that is not played as usual. */
export interface Staging {
  readonly sabotage?: Sabotage;
  /** Is told everything that happens, in a line each. */
  readonly tell?: (line: string) => void;
}

export interface Outcome {
  readonly history: History;
  readonly violations: readonly Violation[];
}

const PLACES = 'abcdefgh';

/** Plays a story: its faults, a calm after them, and the rules that it breaks. The same plan is the same story. */
export async function play(plan: Plan, staging: Staging = {}): Promise<Outcome> {
  const { setting } = plan;
  const world = new World();
  const serverClock = new ProcessClock(world, { aheadMs: 0, rate: setting.serverRate });
  const server = new InMemoryLockStore(serverClock);
  const witness = new Witness(world, staging.tell);
  const stage = setStage({ plan, world, witness, server, serverClock, staging });
  plan.clocks.forEach((clock, index) => stage.places[index]?.start(clock));
  for (const fault of plan.faults) {
    world.after(fault.atMs, () => {
      witness.note(`*** ${faultInWords(fault)}`);
      strike(fault, stage);
    });
  }
  await world.passUntil(setting.faultsForMs + setting.calmForMs);
  const history: History = {
    // what still runs has run until now
    runs: witness.runs.map((run) => ({ endedMs: world.nowMs, ...run })),
    windows: witness.windows,
    settleMs: SETTLES_WITHIN * safetyMarginMs(setting.lockExpiryMs),
    cronJobs: ['cron'],
  };
  for (const { process } of stage.places) process?.kill();
  return { history, violations: check(history) };
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
  const { sabotage } = staging;
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
      jobs: (process) => simulatedJobs(process, { plan, cron: cronAt(world.nowMs, setting), witness, server }),
    });
  const places = plan.clocks.map((_, index) => new Place(PLACES.charAt(index), start));
  return { setting, world, places, server, serverClock, line, witness };
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
