import { LockStoreError } from '../../../libs/singleton-job/src/errors/index.js';
import { type Place } from './place.js';
import { type Fault, type Restart, type Setting } from './plan.js';
import { type ProcessClock } from '../../simulation/process-clock.js';
import { type SimulatedProcess } from './simulated-process.js';
import { type SimulatedServer } from './simulated-server.js';
import { type Weather } from './network-conditions.js';
import { windowsOf } from './windows.js';
import { type Witness } from './recorder.js';
import { type World } from '../../simulation/world.js';

/** Where a story is played. */
export interface Stage {
  readonly setting: Setting;
  readonly world: World;
  readonly places: readonly Place[];
  readonly server: SimulatedServer;
  readonly serverClock: ProcessClock;
  readonly witness: Witness;
  /** Is called whenever a fault begins or ends: the calm begins after the last. */
  readonly disturb: () => void;
}

/** Lets a fault strike now. */
export function strike(fault: Fault, stage: Stage): void {
  const { server, serverClock, disturb } = stage;
  const { data } = server;
  disturb();
  switch (fault.kind) {
    case 'weather-for-all':
      spell(fault.weather, fault.forMs, stage);
      return;
    case 'store-clock-step':
      allow(fault, stage);
      serverClock.stepWall(fault.byMs);
      return;
    case 'store-hangs':
      server.hang();
      later(stage, fault.forMs, () => {
        server.goOn();
      });
      return;
    case 'store-refuses':
      server.refused.set(fault.request, new LockStoreError('STORE_REFUSED_WRITE', 'out of memory'));
      later(stage, fault.forMs, () => {
        server.refused.delete(fault.request);
      });
      return;
    case 'restart':
      restart(fault, stage, () => {
        data.restart(data.snapshot());
      });
      return;
    case 'restart-empty':
      lose(fault, stage);
      restart(fault, stage, () => {
        data.restart();
      });
      return;
    case 'restart-older': {
      const snapshot = data.snapshot();
      later(stage, fault.forMs, () => {
        stage.witness.note('*** what was written since is lost');
        lose(fault, stage);
        restart(fault, stage, () => {
          data.restart(snapshot);
        });
      });
      return;
    }
    case 'flush-all':
      lose(fault, stage);
      data.loseData();
      return;
    case 'sessions-deleted':
      data.loseSessions();
      return;
    case 'lock-deleted':
      allow(fault, stage);
      data.free(fault.job);
      return;
    case 'state-deleted':
      allow(fault, stage);
      data.forget(fault.job);
      return;
    case 'kill':
    case 'crash':
    case 'stop':
    case 'pause':
    case 'suspend':
    case 'freeze':
    case 'clock-step':
    case 'step-down':
    case 'cut':
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
    case 'freeze': {
      // nobody could tell how long a host slept whose wall clock was stepped meanwhile
      const kind = fault.kind === 'suspend' && victim.clock.wasStepped ? 'pause' : fault.kind;
      allow({ ...fault, kind }, stage, victim);
      victim.clock.halt(kind === 'pause' ? 'paused' : kind === 'suspend' ? 'suspended' : 'frozen');
      later(stage, fault.forMs, () => {
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
    case 'cut':
      victim.network.cut(fault.which);
      return;
    case 'weather':
      later(stage, fault.forMs, place.endure(fault.weather));
  }
}

/** The witness is told what the promises exclude from now on. */
function allow(fault: Fault, { witness, setting, world: { nowMs } }: Stage, victim?: SimulatedProcess): void {
  for (const { ofEarlierRuns = false, firstStartedWithinMs, ...window } of windowsOf(fault, setting)) {
    if (window.forMs <= 0) continue;
    witness.allow({
      ...window,
      ...(victim && { process: victim.name }),
      ...(ofEarlierRuns && { startedByMs: nowMs + ('forMs' in fault ? fault.forMs : 0) }),
      ...(firstStartedWithinMs !== undefined && {
        // the answer to a claim may be under way
        firstStarted: { fromMs: nowMs - firstStartedWithinMs, untilMs: nowMs + window.forMs },
      }),
    });
  }
}

/** Data is lost. */
function lose(fault: Fault, stage: Stage): void {
  allow(fault, stage);
  stage.witness.dataLost();
}

function restart(
  fault: { readonly downForMs: number; readonly isNoticed: boolean },
  stage: Stage,
  begin: () => void,
): void {
  const { server } = stage;
  server.end(fault.isNoticed);
  begin();
  later(stage, fault.downForMs, () => {
    server.begin();
  });
}

/** A fault ends. */
function later({ world, disturb }: Stage, afterMs: number, end: () => void): void {
  world.after(afterMs, () => {
    disturb();
    end();
  });
}

function die(restart: Restart, struck: Struck): void {
  const { place, victim } = struck;
  victim.kill();
  if (place.process === victim) place.leave();
  comeBack(restart, struck);
}

function comeBack({ downForMs, clock }: Restart, { stage, place }: Struck): void {
  stage.disturb();
  later(stage, downForMs, () => {
    // one that died while it stopped is replaced once
    if (place.process === undefined) place.start(clock);
  });
}

function spell(weather: Weather, forMs: number, stage: Stage): void {
  for (const place of stage.places) later(stage, forMs, place.endure({ ...weather }));
}
