import { isDeepStrictEqual } from 'node:util';
import { type InMemoryLockStore } from '../../libs/singleton-job/src/lock/index.js';
import { type Place } from './place.js';
import { type Fault, type Restart } from './plan.js';
import { type ProcessClock } from './process-clock.js';
import { type ServerLine } from './server-line.js';
import { type SimulatedProcess } from './simulated-process.js';
import { FINE_WEATHER, type Weather } from './weather.js';
import { type Witness } from './witness.js';
import { type World } from './world.js';

/** Where a story is played. */
export interface Stage {
  readonly world: World;
  readonly places: readonly Place[];
  readonly server: InMemoryLockStore;
  readonly serverClock: ProcessClock;
  readonly line: ServerLine;
  readonly witness: Witness;
}

/** Lets a fault strike now. */
export function strike(fault: Fault, stage: Stage): void {
  const { world, server, serverClock, line, witness } = stage;
  switch (fault.kind) {
    case 'weather-for-all':
      // what is on its way when it ends is still slow
      witness.fault(nameOf(fault.weather), fault.forMs + fault.weather.slowMs);
      spell(fault.weather, fault.forMs, stage);
      return;
    case 'store-clock-step':
      // set back, it lets locks live for so much longer
      witness.fault('store-clock-step', Math.max(0, -fault.byMs), { byMs: fault.byMs });
      serverClock.stepWall(fault.byMs);
      witness.server.stepped(fault.byMs);
      return;
    case 'store-hangs':
      witness.fault('store-hangs', fault.forMs);
      line.hang();
      world.after(fault.forMs, () => {
        line.goOn();
      });
      return;
    case 'data-loss':
      witness.fault('data-loss', fault.forMs);
      witness.server.lostLock();
      server.loseData();
      // nobody can reach a server that starts again, and what it was told meanwhile it does not know
      if (fault.forMs > 0) spell({ ...FINE_WEATHER, isCut: true }, fault.forMs, stage);
      return;
    case 'fall-back': {
      const [sinceMs, goBack, see] = [world.nowMs, server.remember(), witness.server.remember()];
      world.after(fault.forMs, () => {
        witness.note('*** what was written since is lost');
        witness.fault('fall-back', fault.downForMs, { sinceMs });
        goBack();
        see();
        line.replaceServer();
        if (fault.downForMs > 0) spell({ ...FINE_WEATHER, isCut: true }, fault.downForMs, stage);
      });
      return;
    }
    case 'lock-deleted':
      witness.fault('lock-deleted', 0, { job: fault.job });
      witness.server.lostLock(fault.job);
      server.free(fault.job);
      return;
    case 'state-deleted':
      witness.fault('state-deleted', 0, { job: fault.job });
      server.forget(fault.job);
      return;
    case 'kill':
    case 'crash':
    case 'stop':
    case 'pause':
    case 'suspend':
    case 'clock-step':
    case 'step-down':
    case 'weather': {
      const place = stage.places[fault.place];
      const victim = place?.process;
      if (place !== undefined && victim !== undefined) strikeProcess(fault, { stage, place, victim });
    }
  }
}

type FaultOfProcess = Extract<Fault, { readonly place: number }>;
interface Struck {
  readonly stage: Stage;
  readonly place: Place;
  readonly victim: SimulatedProcess;
}

function strikeProcess(fault: FaultOfProcess, struck: Struck): void {
  const { stage, place, victim } = struck;
  const { world, witness } = stage;
  switch (fault.kind) {
    case 'kill':
      die(fault, struck);
      return;
    case 'crash':
      victim.crashAt(fault.step, () => {
        die(fault, struck);
      });
      return;
    case 'stop':
      place.leave();
      void victim.stop().then(() => {
        comeBack(fault, struck);
      });
      return;
    case 'pause':
    case 'suspend':
      // nobody could tell how long a host slept whose wall clock was stepped meanwhile
      victim.halt(fault.kind === 'suspend' && !victim.clock.wasStepped ? 'suspended' : 'paused', fault.forMs);
      world.after(fault.forMs, () => {
        victim.goOn();
      });
      return;
    case 'clock-step':
      if (victim.clock.wasSuspended) return;
      witness.fault('clock-step', 0, { process: victim.name });
      victim.clock.stepWall(fault.byMs);
      return;
    case 'step-down':
      victim.stepDown();
      return;
    case 'weather':
      witness.fault(nameOf(fault.weather), fault.forMs + fault.weather.slowMs, { process: victim.name });
      world.after(fault.forMs, place.endure(fault.weather));
  }
}

/** Who hears of no release has its commands carried out all the same. */
function nameOf({ lostMessages, ...weather }: Weather): string {
  return lostMessages > 0 && isDeepStrictEqual({ ...weather, lostMessages: 0 }, FINE_WEATHER) ? 'deaf' : 'weather';
}

function die(restart: Restart, struck: Struck): void {
  const { place, victim } = struck;
  victim.kill();
  // one that is stopping has left its place already
  if (place.process !== victim) return;
  place.leave();
  comeBack(restart, struck);
}

function comeBack({ downForMs, clock }: Restart, { stage, place }: Struck): void {
  stage.world.after(downForMs, () => {
    place.start(clock);
  });
}

function spell(weather: Weather, forMs: number, { world, places }: Stage): void {
  for (const place of places) world.after(forMs, place.endure({ ...weather }));
}
