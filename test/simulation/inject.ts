import { LockStoreError } from '../../libs/singleton-job/src/base/errors/lock-store.error.js';
import { emptyData } from '../../libs/singleton-job/src/store/memory/in-memory-sessions.js';
import { SimulatedCluster } from './simulated-cluster.js';
import { type Place } from './place.js';
import { type Fault, type JobName, type Plan, type Request, type Restart } from './plan.js';
import { type ProcessClock } from './process-clock.js';
import { type SimulatedProcess } from './simulated-process.js';
import { type SimulatedServer } from './simulated-server.js';
import { type NetworkConditions } from './network-conditions.js';
import { windowsOf } from './windows.js';
import { type Recorder } from './recorder.js';
import { type Timeline } from './timeline.js';

/** Between two clicks. */
const DOUBLE_CLICK_MS = 2;

/** Where a scenario is played. */
export interface StoryContext {
  readonly plan: Plan;
  readonly timeline: Timeline;
  readonly places: readonly Place[];
  readonly server: SimulatedServer;
  readonly serverClock: ProcessClock;
  readonly recorder: Recorder;
  /** Called when a fault begins or ends. The calm begins after the last call. */
  readonly disturb: () => void;
}

/** Injects a fault now. */
export function inject(fault: Fault, context: StoryContext): void {
  const { server, serverClock, disturb } = context;
  const { data } = server;
  disturb();
  switch (fault.kind) {
    case 'network-for-all':
      applyEverywhere(fault.conditions, fault.forMs, context);
      return;
    case 'store-clock-step':
      allow(fault, context);
      serverClock.stepWall(fault.byMs);
      return;
    case 'store-hangs':
      server.hang();
      later(context, fault.forMs, () => {
        server.goOn();
      });
      return;
    case 'store-refuses':
      server.refused.set(fault.request, new LockStoreError('STORE_REFUSED_WRITE', 'out of memory'));
      later(context, fault.forMs, () => {
        server.refused.delete(fault.request);
      });
      return;
    case 'restart':
      restart(fault, context, () => {
        data.restart(data.snapshot());
      });
      return;
    case 'restart-empty':
      lose(fault, context);
      restart(fault, context, () => {
        data.restart();
      });
      return;
    case 'restart-older': {
      const snapshot = data.snapshot();
      later(context, fault.forMs, () => {
        context.recorder.note('*** what was written since is lost');
        lose(fault, context);
        restart(fault, context, () => {
          data.restart(snapshot);
        });
      });
      return;
    }
    case 'node-failover':
      failOver(fault, context);
      return;
    case 'flush-all':
      lose(fault, context);
      data.loseData();
      return;
    case 'sessions-deleted':
      data.loseSessions();
      return;
    case 'lock-deleted':
      allow(fault, context);
      data.free(fault.job);
      return;
    case 'state-deleted':
      allow(fault, context);
      data.forget(fault.job);
      return;
    case 'kill':
    case 'exit':
    case 'crash':
    case 'stop':
    case 'pause':
    case 'suspend':
    case 'freeze':
    case 'block':
    case 'clock-step':
    case 'step-down':
    case 'unregister':
    case 'pause-job':
    case 'cut':
    case 'network': {
      const place = context.places[fault.place];
      const target = place?.process;
      if (place !== undefined && target !== undefined) injectIntoProcess(fault, { context, place, target });
    }
  }
}

type FaultOfProcess = Extract<Fault, { readonly place: number }>;
interface Injection {
  readonly context: StoryContext;
  readonly place: Place;
  readonly target: SimulatedProcess;
}

function injectIntoProcess(fault: FaultOfProcess, injection: Injection): void {
  const { context, place, target } = injection;
  switch (fault.kind) {
    case 'kill':
      die(fault, injection);
      return;
    case 'exit':
      target.exit();
      place.leave();
      comeBack(fault, injection);
      return;
    case 'crash':
      target.crashAt(fault.step, () => {
        if (fault.step === 'renew sent') context.recorder.occurrences.crashedAtRenewal(context.timeline.nowMs);
        die(fault, injection);
      });
      return;
    case 'stop':
      place.leave();
      void target.stop().then(() => {
        comeBack(fault, injection);
      });
      return;
    case 'pause':
    case 'suspend':
    case 'freeze': {
      // the suspension of a host cannot be measured if its wall clock was stepped during it
      const kind = fault.kind === 'suspend' && target.clock.wasStepped ? 'pause' : fault.kind;
      allow({ ...fault, kind }, context, target);
      target.halt(kind === 'pause' ? 'paused' : kind === 'suspend' ? 'suspended' : 'frozen');
      later(context, fault.forMs, () => {
        target.goOn();
      });
      return;
    }
    case 'block':
      allow(fault, context, target);
      target.block();
      later(context, fault.forMs, () => {
        target.unblock();
      });
      return;
    case 'clock-step':
      if (!target.clock.wasSuspended) target.stepWall(fault.byMs);
      return;
    case 'step-down':
      target.stepDown();
      return;
    case 'unregister':
      target.unregister(fault.job);
      later(context, fault.forMs, () => {
        target.register(fault.job);
      });
      return;
    case 'pause-job':
      target.pauseJob(fault.job);
      later(context, fault.forMs, () => {
        resumeJob(fault.job, fault.place, context);
      });
      return;
    case 'cut':
      target.cut(fault.which);
      return;
    case 'network':
      later(context, fault.forMs, place.apply(fault.conditions));
  }
}

/** Notes in the recorder which rules may break from now on, because the promises exclude this fault. */
function allow(fault: Fault, { recorder, plan, timeline: { nowMs } }: StoryContext, target?: SimulatedProcess): void {
  for (const { ofEarlierRuns = false, firstStartedWithinMs, ...window } of windowsOf(fault, plan)) {
    if (window.forMs <= 0) continue;
    recorder.allow({
      ...window,
      ...(target && { process: target.name }),
      ...(ofEarlierRuns && { startedByMs: nowMs + ('forMs' in fault ? fault.forMs : 0) }),
      ...(firstStartedWithinMs !== undefined && {
        // the answer to a claim may be under way
        firstStarted: { fromMs: nowMs - firstStartedWithinMs, untilMs: nowMs + window.forMs },
      }),
    });
  }
}

/** Data is lost. */
function lose(fault: Fault, context: StoryContext): void {
  allow(fault, context);
  context.recorder.dataLost();
}

function restart(
  fault: { readonly downForMs: number; readonly isNoticed: boolean },
  context: StoryContext,
  begin: () => void,
): void {
  const { server } = context;
  server.end(fault.isNoticed);
  begin();
  later(context, fault.downForMs, () => {
    server.begin();
  });
}

const REQUESTS_OF: Readonly<Record<'locks' | 'sessions', readonly Request[]>> = {
  locks: ['acquire', 'renew', 'claim', 'release', 'setPaused'],
  sessions: ['heartbeat', 'endSession'],
};

/** One node of a cluster fails over. Meanwhile the other one answers. */
function failOver(fault: Extract<Fault, { readonly kind: 'node-failover' }>, context: StoryContext): void {
  const { server, recorder } = context;
  const { data } = server;
  if (!(data instanceof SimulatedCluster)) return;
  const { node, lostMs, downForMs } = fault;
  const snapshot = lostMs === Infinity ? emptyData() : data.snapshot();
  later(context, lostMs === Infinity ? 0 : lostMs, () => {
    if (lostMs > 0) {
      allow(fault, context);
      recorder.dataLost();
    }
    const refused = new LockStoreError('STORE_UNREACHABLE', 'CLUSTERDOWN');
    for (const request of REQUESTS_OF[node]) server.refused.set(request, refused);
    const kept = lostMs === 0 ? data.snapshot() : snapshot;
    if (node === 'locks') data.locks.restart(kept);
    else data.restartSessions(kept);
    later(context, downForMs, () => {
      for (const request of REQUESTS_OF[node]) server.refused.delete(request);
    });
  });
}

/** A fault ends. */
function later({ timeline, disturb }: StoryContext, afterMs: number, end: () => void): void {
  timeline.after(afterMs, () => {
    disturb();
    end();
  });
}

/** By the process at this place, or the next one that lives. A person clicks twice. */
function resumeJob(job: JobName, place: number, { places, timeline }: StoryContext): void {
  const process = [...places.slice(place), ...places].find((one) => one.process !== undefined)?.process;
  process?.resumeJob(job);
  timeline.after(DOUBLE_CLICK_MS, () => process?.resumeJob(job));
}

function die(restart: Restart, injection: Injection): void {
  const { place, target } = injection;
  target.kill();
  if (place.process === target) place.leave();
  comeBack(restart, injection);
}

function comeBack({ downForMs, clock }: Restart, { context, place }: Injection): void {
  context.disturb();
  later(context, downForMs, () => {
    // one that died while it stopped is replaced once
    if (place.process === undefined) place.start(clock);
  });
}

function applyEverywhere(conditions: NetworkConditions, forMs: number, context: StoryContext): void {
  for (const place of context.places) later(context, forMs, place.apply({ ...conditions }));
}
