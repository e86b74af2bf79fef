import { type InMemoryLockStore } from '../../libs/singleton-job/src/store/index.js';
import { type Place } from './place.js';
import { type Fault, type Restart, type Setting } from './plan.js';
import { type ProcessClock } from './process-clock.js';
import { type ServerLine } from './server-line.js';
import { type SimulatedProcess } from './simulated-process.js';
import { FINE_WEATHER, type Weather } from './weather.js';
import { windowsOf } from './windows.js';
import { type Witness } from './witness.js';
import { type World } from './world.js';

/** Where a story is played. */
export interface Stage {
  readonly setting: Setting;
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
      spell(fault.weather, fault.forMs, stage);
      return;
    case 'store-clock-step':
      allow(fault, stage);
      serverClock.stepWall(fault.byMs);
      return;
    case 'store-hangs':
      line.hang();
      world.after(fault.forMs, () => {
        line.goOn();
      });
      return;
    case 'data-loss':
      allow(fault, stage);
      server.loseData();
      // nobody can reach a server that starts again, and what it was told meanwhile it does not know
      if (fault.forMs > 0) spell({ ...FINE_WEATHER, isCut: true }, fault.forMs, stage);
      return;
    case 'fall-back': {
      const goBack = server.remember();
      world.after(fault.forMs, () => {
        witness.note('*** what was written since is lost');
        allow(fault, stage);
        goBack();
        line.replaceServer();
        if (fault.downForMs > 0) spell({ ...FINE_WEATHER, isCut: true }, fault.downForMs, stage);
      });
      return;
    }
    case 'lock-deleted':
      allow(fault, stage);
      server.free(fault.job);
      return;
    case 'state-deleted':
      allow(fault, stage);
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
  const { world } = stage;
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
    case 'suspend': {
      // nobody could tell how long a host slept whose wall clock was stepped meanwhile
      const kind = fault.kind === 'suspend' && !victim.clock.wasStepped ? 'suspend' : 'pause';
      allow({ ...fault, kind }, stage, victim);
      victim.clock.halt(kind === 'suspend' ? 'suspended' : 'paused');
      world.after(fault.forMs, () => {
        victim.clock.goOn();
      });
      return;
    }
    case 'clock-step':
      if (!victim.clock.wasSuspended) victim.clock.stepWall(fault.byMs);
      return;
    case 'step-down':
      victim.stepDown();
      return;
    case 'weather':
      world.after(fault.forMs, place.endure(fault.weather));
  }
}

/** The witness is told what the promises exclude from now on. */
function allow(fault: Fault, { witness, setting }: Stage, victim?: SimulatedProcess): void {
  for (const window of windowsOf(fault, setting)) witness.allow({ ...window, ...(victim && { process: victim.name }) });
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
