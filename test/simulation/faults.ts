import { jobRecord } from '../../libs/singleton-job/src/leadership/record.js';
import { type SimulatedProcess } from './simulated-process.js';
import { type CommandKind, type Fault, type FaultKind, type FaultOf } from './story.js';
import { type World } from './world.js';

/** Clients need so long at most until they are connected again. */
const RECONNECT_MS = 600;
/** A process that stops is killed so long after. */
const KILL_MS = 8_000;
/** For which a leader that stepped down does not compete, and a bit. */
const STAND_BACK_MS = 2_300;

/** What each fault does. `one`: the process at its place. */
const HAPPEN: {
  readonly [Kind in FaultKind]: (world: World, fault: FaultOf<Kind>, one: SimulatedProcess) => unknown;
} = {
  // ---- the store
  restart,
  flush: ({ server, rules }) => {
    const before = server.snapshot();
    server.loseData();
    rules.dataLost(before);
  },
  'lose-leases': ({ server }) => {
    server.loseLeases();
  },
  'lose-record': ({ server, rules }, { name }) => {
    server.loseRecord(jobRecord(name));
    rules.recordLost(jobRecord(name));
  },
  corrupt: async (world, { ms, name }) => {
    world.server.corrupt(jobRecord(name));
    await world.sleep(ms);
    world.server.repair(jobRecord(name));
  },
  jump: ({ server, rules }, { byMs }) => {
    server.jump(byMs);
    rules.clockJumped(byMs);
  },
  stall: (world, { at, ms }) => (world.stalledUntil = at + ms),

  // ---- the way to it
  noise: (world, fault) => world.noise.push(fault),
  hints: (world, fault) => world.hintNoise.push(fault),
  cut: async (world, { ms, isThreadCut, isLoud }, { link, threadLink }) => {
    for (const one of isThreadCut ? [link, threadLink] : [link]) if (one !== undefined) one.cutUntil = world.now() + ms;
    if (isLoud) link.break('reset');
    await world.sleep(ms);
    link.break('reset');
  },
  deaf: (_world, { ms }, { link }) => link.deafen(ms),

  // ---- one process
  block: (_world, { ms }, one) => one.stand('blocked', ms),
  freeze: (_world, { ms }, one) => one.stand('stopped', ms),
  suspend: (_world, { ms }, one) => one.stand('suspended', ms),
  wall: (_world, { byMs }, one) => {
    one.stepWall(byMs);
  },
  kill: (world, _fault, one) => world.die(one),
  crash: (world, _fault, one) => world.crash(one),
  stop: async (world, { at }, one) => {
    world.rules.stops(one);
    act(one, () => world.stop(one));
    await world.sleep(KILL_MS);
    if (one.threadClock.isKilled) return;
    world.rules.killedInStop(one, at);
    world.rules.faultUntil(world.now());
    await world.die(one);
  },
  start: () => undefined,
  remove: async (world, { name, backMs }, one) => {
    act(one, () => one.app.services.pool.remove(name));
    await world.sleep(backMs);
    act(one, () => {
      one.app.add(name);
    });
  },

  // ---- callers
  pause: call,
  resume: call,
  pauseAll: call,
  resumeAll: call,
  trigger: call,
  stepDown: call,
  script: async (world, { name, command, untilMs }) => {
    const one = world.start(0, 'script');
    await one.app.command(command, name, untilMs);
    await world.stop(one);
  },
  'give-back': (_world, { name }, one) => {
    act(one, () => {
      one.app.runners.get(name)?.election?.stepDown('rebalance');
    });
  },
  lock: ({ rules }, fault, one) => {
    act(one, () => one.app.lock(fault, fault.isLast ? rules.lastLock() : () => undefined));
  },
};

/** By themselves they disturb no replica. */
const QUIET: readonly FaultKind[] = [
  'hints',
  'deaf',
  'pause',
  'resume',
  'pauseAll',
  'resumeAll',
  'trigger',
  'script',
  'lock',
];

/** For how long a fault disturbs, beside what follows from it. */
function disturbsMs(fault: Fault): number {
  if (fault.kind === 'stepDown' || fault.kind === 'give-back') return STAND_BACK_MS;
  return 'ms' in fault ? fault.ms + RECONNECT_MS : 0;
}

/** Plans a fault. */
export function plan(world: World, fault: Fault): void {
  if (fault.kind === 'restart')
    world.setTimer(fault.at - fault.ageMs, () => world.snapshots.set(fault, world.server.snapshot()));
  world.setTimer(fault.at, () => {
    world.say('FAULT', fault);
    const isOfProcess = 'place' in fault && fault.kind !== 'noise' && fault.kind !== 'hints';
    const one = isOfProcess ? world.alive(fault.place) : undefined;
    if (isOfProcess && one === undefined && fault.kind !== 'start') return;
    const happen = HAPPEN[fault.kind] as (world: World, fault: Fault, one: SimulatedProcess | undefined) => unknown;
    happen(world, fault, one);
    if ('backMs' in fault && fault.kind !== 'remove') world.back(fault);
    if (!QUIET.includes(fault.kind)) world.rules.faultUntil(world.now() + disturbsMs(fault));
  });
}

/** In the main thread of a process that does not stop. */
function act(one: SimulatedProcess, what: () => unknown): void {
  one.clock.deliver(() => {
    if (!one.isStopping) void what();
  });
}

function call(_world: World, fault: FaultOf<CommandKind>, one: SimulatedProcess): void {
  const { name, untilMs } = { name: '', untilMs: undefined, ...fault };
  act(one, () => one.app.command(fault.kind, name, untilMs));
}

async function restart(world: World, fault: FaultOf<'restart'>): Promise<void> {
  if (!world.isUp) return;
  const { server, rules, setting } = world;
  world.isUp = false;
  world.refuses = fault.refuses;
  world.restarts += 1;
  if (fault.refuses) world.breakAll();
  world.rules.faultUntil(world.now() + fault.downMs);
  await world.sleep(fault.downMs);
  const [before, copy, id] = [server.snapshot(), world.snapshots.get(fault), server.server];
  const old = fault.data === 'old' ? world.oldServers.at(-1) : undefined;
  const data = fault.data === 'old' && old === undefined ? 'kept' : fault.data;
  world.oldServers.push({ id, data: before });
  server.restart({ kept: before, copy, 'rolled-back': copy, none: undefined, old: old?.data }[data]);
  const newId = setting.isHidden ? '' : `s${world.restarts}`;
  server.server = old?.id ?? (data === 'rolled-back' ? id : newId);
  server.jump(fault.clockMs);
  world.isUp = true;
  if (!fault.refuses) world.breakAll();
  for (const release of world.heldByProxy.splice(0)) world.setTimer(world.chance.between(0, 3), release);
  world.rules.faultUntil(world.now() + RECONNECT_MS);
  rules.restarted({ ...fault, data }, before);
  world.say('STORE UP', server.server);
}
