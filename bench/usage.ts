import { setTimeout as delay } from 'node:timers/promises';
import { type WorkerProcess } from '../tools/replicas/worker-process.js';
import { type Usage } from './contestants/contestant.js';
import { type Row } from './figures.js';
import { type Replicas } from './replicas.js';

export function usageOf(replica: WorkerProcess): Promise<Usage> {
  return replica.request('usage');
}

interface CpuUse {
  readonly perSecond: number;
  readonly runs: number;
}

/** A row for each contestant with the CPU time of one of its replicas, all in the same window. */
export function cpuRows(
  all: readonly Replicas[],
  column: string,
  use: (replicas: Replicas) => Promise<CpuUse>,
): Promise<Row[]> {
  return Promise.all(
    all.map(async (replicas) => {
      return { name: replicas.contestant.name, cells: { [column]: (await use(replicas)).perSecond } };
    }),
  );
}

/** CPU time that a replica uses in a window, in milliseconds per second, and its runs per second. */
export async function cpuOf(replica: WorkerProcess, windowMs: number): Promise<CpuUse> {
  const before = await usageOf(replica);
  const fromMs = performance.now();
  await delay(windowMs);
  const after = await usageOf(replica);
  const seconds = (performance.now() - fromMs) / 1_000;
  return { perSecond: (after.cpuMs - before.cpuMs) / seconds, runs: (after.runs - before.runs) / seconds };
}
