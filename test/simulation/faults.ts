import { jobRecord } from '../../libs/singleton-job/src/leadership/record.js';
import { type SimulatedProcess, type Standstill } from './simulated-process.js';
import { type CommandKind, type Fault, type FaultOf } from './story.js';
import { type World } from './world.js';

/** Clients need so long at most until they are connected again. */
const RECONNECT_MS = 600;
/** A process that stops is killed so long after. */
const KILL_MS = 8_000;
/** For which a leader that stepped down does not compete, and a bit. */
const STAND_BACK_MS = 2_300;

/** `one`: the process at the place of the fault. */
type Happen<Kind extends Fault['kind']> = (world: World, fault: FaultOf<Kind>, one: SimulatedProcess) => unknown;

/** What each fault does. */
const HAPPEN: { readonly [Kind in Fault['kind']]: Happen<Kind> } = {
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
  spoil: (world, { at, ms, name }) => {
    world.server.spoil(jobRecord(name));
    world.after(ms, () => {
      world.server.repair(jobRecord(name));
    });
    world.faultUntil(at + ms);
  },
  jump: ({ server, rules }, { ms }) => {
    server.jump(ms);
    rules.clockJumped(ms);
  },
  stall: (world, { at, ms }) => {
    world.stalledUntil = at + ms;
    world.faultUntil(at + ms + RECONNECT_MS);
  },

  // ---- the way to it
  noise: (world, fault) => {
    world.noise.push(fault);
    world.faultUntil(fault.at + fault.ms + RECONNECT_MS);
  },
  hints: (world, fault) => {
    world.hintNoise.push(fault);
  },
  cut: (world, { at, ms, isThreadCut, isLoud }, { link, threadLink }) => {
    link.cut(ms);
    if (isThreadCut) threadLink?.cut(ms);
    if (isLoud) link.break('reset');
    world.after(ms, () => {
      link.break('reset');
    });
    world.faultUntil(at + ms + RECONNECT_MS);
  },
  deaf: (_world, { ms }, { link }) => {
    link.deafen(ms);
  },

  // ---- one process
  block: stand('blocked'),
  freeze: stand('stopped'),
  suspend: stand('suspended'),
  wall: (_world, { ms }, one) => {
    one.stepWall(ms);
  },
  kill: (world, fault, one) => {
    world.die(one);
    world.back(fault);
  },
  crash: (world, fault, one) => {
    world.crash(one);
    world.back(fault);
  },
  stop: (world, fault, one) => {
    act(one, () => world.stop(one));
    world.after(KILL_MS, () => {
      if (one.state !== 'dead') world.rules.killedInStop(one, fault.at);
      world.die(one);
    });
    world.back(fault);
  },
  start: (world, { place }) => {
    world.back({ place, backMs: 0 });
  },
  remove: (world, { name, backMs }, one) => {
    act(one, () => one.app.remove(name));
    world.after(backMs, () => {
      act(one, () => {
        one.app.add(name);
      });
    });
  },

  // ---- callers
  pause: call,
  resume: call,
  trigger: call,
  'step-down': call,
  'give-back': (world, { at, name }, one) => {
    act(one, () => {
      one.app.giveBack(name);
    });
    world.faultUntil(at + STAND_BACK_MS);
  },
  lock: (world, fault, one) => {
    const acquired = fault.isLast ? world.rules.lastLock() : (): void => {};
    act(one, () => one.app.lock(fault, acquired));
  },
};

/** They are heard by callers and by everybody else at their instants. */
const QUIET: readonly Fault['kind'][] = ['hints', 'pause', 'resume', 'trigger', 'step-down', 'lock'];

/** Plans a fault. */
export function plan(world: World, fault: Fault): void {
  const { timeline } = world;
  if (fault.kind === 'restart' && fault.data === 'copy')
    timeline.at(fault.at - fault.ageMs, () => world.snapshots.set(fault, world.server.snapshot()));
  timeline.at(fault.at, () => {
    world.say('FAULT', fault);
    const place = 'place' in fault && fault.kind !== 'noise' && fault.kind !== 'hints' ? fault.place : undefined;
    const one = place === undefined ? undefined : world.alive(place);
    if (place !== undefined && one === undefined && fault.kind !== 'start') return;
    (HAPPEN[fault.kind] as (world: World, fault: Fault, one: SimulatedProcess | undefined) => unknown)(
      world,
      fault,
      one,
    );
    if (!QUIET.includes(fault.kind)) world.faultUntil(world.t);
  });
}

/** In the main thread of a process that does not stop. */
function act(one: SimulatedProcess, what: () => unknown): void {
  one.deliver(() => {
    if (!one.isStopping) void what();
  });
}

function stand(how: Standstill) {
  return (world: World, { at, ms }: { readonly at: number; readonly ms: number }, one: SimulatedProcess): void => {
    if (one.stand(how, ms)) world.faultUntil(at + ms);
  };
}

function call(world: World, { kind, name }: FaultOf<CommandKind>, one: SimulatedProcess): void {
  if (kind === 'step-down') world.faultUntil(world.t + STAND_BACK_MS);
  act(one, async () => {
    if (!one.app.knows(name)) return;
    const asked = world.rules.asked(one.app.nextCommand(), kind, jobRecord(name));
    asked.outcome = await one.app.command(kind, name);
    world.say(one.id, asked.id, kind, asked.outcome);
  });
}

async function restart(world: World, fault: FaultOf<'restart'>): Promise<void> {
  if (!world.isUp) return;
  const { server, rules, setting } = world;
  world.isUp = false;
  world.refuses = fault.refuses;
  world.life += 1;
  if (fault.refuses) world.breakAll();
  world.faultUntil(world.t + fault.downMs);
  await world.sleep(fault.downMs);
  const before = server.snapshot();
  const old = fault.data === 'old' ? world.oldServers.at(-1) : undefined;
  world.oldServers.push({ id: server.id, data: before });
  const kept = { copy: world.snapshots.get(fault), kept: before, none: undefined, old: before }[fault.data];
  const id = setting.isHidden ? '' : `s${world.life}`;
  server.become(old?.id ?? id, old?.data ?? kept);
  server.jump(fault.clockMs);
  world.isUp = true;
  if (!fault.refuses) world.breakAll();
  for (const release of world.heldByProxy.splice(0)) world.after(world.chance.between(0, 3), release);
  world.faultUntil(world.t + RECONNECT_MS);
  rules.restarted(fault, before);
  world.say('STORE UP', server.id);
}
