import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './paths.js';

/** How many checks there were, and how they ended. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

export function total(parts: readonly Counts[]): Counts {
  return {
    passed: parts.reduce((sum, part) => sum + part.passed, 0),
    failed: parts.reduce((sum, part) => sum + part.failed, 0),
  };
}

export function inWords({ passed, failed }: Counts): string {
  return `${String(passed)} passed, ${String(failed)} failed`;
}

/** Leaves the counts for `.ci/run`, which adds up what each command found. */
export async function record(name: string, { passed, failed }: Counts): Promise<void> {
  const folder = join(ROOT, '.cache/counts');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name}.json`), JSON.stringify({ passed, failed }));
}
