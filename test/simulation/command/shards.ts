import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type Failure, type Played, type SeedsToPlay } from '../simulation.js';
import { compileSimulation } from './compile.js';

/** The number of seeds for a process at a time: few, so that all processes end at about the same time. */
const CHUNK = 50;
/** A process that has found so many failures stops. */
const ENOUGH_FAILURES = 20;

export interface ShardedSeeds extends Omit<SeedsToPlay, 'options'> {
  /** No further scenarios begin after this time. @default Infinity */
  readonly forMs?: number;
  /** Called after each chunk with the number of played scenarios. */
  readonly onProgress?: (scenarios: number, failures: readonly Failure[]) => void;
}

/** Plays the scenarios of many seeds in as many processes as there are cores. */
export async function playInShards({ onProgress, forMs = Infinity, ...seeds }: ShardedSeeds): Promise<Played> {
  const folder = await compileSimulation();
  const chunks = chunksOf(seeds);
  const played: Played[] = [];
  const endsAtMs = performance.now() + forMs;
  const add = (part: Played): boolean => {
    played.push(part);
    const { scenarios, failures } = total(played);
    onProgress?.(scenarios, failures);
    return failures.length < ENOUGH_FAILURES && performance.now() < endsAtMs;
  };
  const shards = Math.min(availableParallelism(), chunks.length);
  await Promise.all(Array.from({ length: shards }, () => playShard(folder, chunks, add)));
  return total(played);
}

function chunksOf({ first, count, ...rest }: SeedsToPlay): SeedsToPlay[] {
  return Array.from({ length: Math.ceil(count / CHUNK) }, (_, index) => ({
    ...rest,
    first: first + index * CHUNK,
    count: Math.min(CHUNK, count - index * CHUNK),
  }));
}

async function playShard(folder: string, chunks: SeedsToPlay[], add: (part: Played) => boolean): Promise<void> {
  const child = fork(join(folder, 'test/simulation/command/worker.js'), [], {
    execArgv: ['--max-semi-space-size=32'],
  });
  try {
    for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
      if (!add(await answer(child, chunk))) return;
    }
  } finally {
    child.kill();
  }
}

/** Rejects if the process ends first, because a scenario crashed it. */
function answer(child: ChildProcess, chunk: SeedsToPlay): Promise<Played> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null): void => {
      const last = chunk.first + chunk.count - 1;
      reject(new Error(`the process that played seeds ${chunk.first} to ${last} ended with ${String(code)}`));
    };
    child.once('exit', gone);
    child.once('message', (played) => {
      child.off('exit', gone);
      resolve(played as Played);
    });
    child.send(chunk);
  });
}

function total(parts: readonly Played[]): Played {
  const sum = (of: (part: Played) => number): number => parts.reduce((so, part) => so + of(part), 0);
  return {
    scenarios: sum(({ scenarios }) => scenarios),
    runs: sum(({ runs }) => runs),
    failures: parts.flatMap(({ failures }) => failures).sort((a, b) => a.seed - b.seed),
  };
}
