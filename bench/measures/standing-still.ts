import { setTimeout as delay } from 'node:timers/promises';
import { overlaps } from '../../tools/replicas/history.js';
import { type WorkerProcess } from '../../tools/replicas/worker-process.js';
import { type Contestant, heartbeatThread, rivals } from '../contestants.js';
import { type Row } from '../figures.js';
import { type Measure, repeat, type Scale, sideBySide } from '../measure.js';
import { HALF_SECOND, Replicas } from '../replicas.js';
import { overlapMs, type Pause, repeatedSlots } from '../slots.js';

const ABOUT =
  'The others start runs meanwhile where they take over. Two runs overlap while both of them do something: a run that computes ' +
  'does, and a stopped process does not. A slot run again had already been run by another replica: it is a run too many.';

export const blockedLoop: Measure = {
  name: 'blocked-loop',
  title: 'A job blocks the event loop',
  about: `Three replicas, one job of 500 ms with runs of 200 ms. One run computes for 12 s without a pause. ${ABOUT}`,
  mostlyWaits: true,
  run: (scale) => {
    return measureAll([...rivals(scale.isQuick), heartbeatThread], scale, async (leader, ms, replicas) => {
      const askedAtMs = Date.now();
      await leader.request(`block ${ms}`);
      let fromMs = Infinity;
      // the next run of this process, which may not be the next run
      await replicas.until('the blocking run', () => {
        const run = replicas.runs.find(({ node, startedAtMs }) => node === leader.node && startedAtMs > askedAtMs);
        fromMs = run?.startedAtMs ?? Infinity;
        return run !== undefined;
      });
      await delay(fromMs + ms - Date.now());
      return { fromMs, toMs: Date.now(), pauses: [] };
    });
  },
};

export const pausedLeader: Measure = {
  name: 'paused-leader',
  title: 'The process of the leader is paused',
  about: `The same, and the process is stopped for 12 s in mid-run (SIGSTOP, SIGCONT), as on an overloaded host. ${ABOUT}`,
  mostlyWaits: true,
  run: (scale) =>
    measureAll(rivals(scale.isQuick), scale, async (leader, ms, replicas) => {
      const pause = await replicas.pause(leader, ms);
      return { ...pause, pauses: [pause] };
    }),
};

interface StoodStill {
  readonly fromMs: number;
  readonly toMs: number;
  /** Without a pause the run went on meanwhile: it computed. */
  readonly pauses: readonly Pause[];
}

type StandStill = (leader: WorkerProcess, ms: number, replicas: Replicas) => Promise<StoodStill>;

function measureAll(contestants: readonly Contestant[], scale: Scale, standStill: StandStill): Promise<Row[]> {
  return sideBySide(contestants, async (contestant) => {
    await using replicas = await Replicas.start(contestant, { jobs: [HALF_SECOND], count: scale.pick(3, 2) });
    return await repeat(scale.pick(2, 1), () => measure(replicas, scale, standStill));
  });
}

async function measure(replicas: Replicas, { pick }: Scale, standStill: StandStill): Promise<Row['cells']> {
  await delay(2_000);
  const leader = await replicas.freshRun();
  const { fromMs, toMs, pauses } = await standStill(leader, pick(12_000, 2_500), replicas);
  await delay(pick(5_000, 1_500));
  const endMs = Date.now();
  const since = replicas.runs
    .filter(({ endedAtMs }) => endedAtMs > fromMs)
    .map((run) => ({ ...run, endedAtMs: Math.min(run.endedAtMs, endMs) }));
  const elsewhere = since.filter(
    ({ node, startedAtMs }) => node !== leader.node && startedAtMs > fromMs && startedAtMs < toMs,
  );
  const lengths = overlaps(since).map((pair) => overlapMs(pair, pauses));
  return {
    'runs elsewhere meanwhile': elsewhere.length,
    'overlapping pairs': lengths.filter((ms) => ms > 0).length,
    'overlap, ms': lengths.reduce((sum, ms) => sum + Math.max(0, ms), 0),
    'slots run again': repeatedSlots(replicas.runs, HALF_SECOND.periodMs, fromMs).length,
  };
}
