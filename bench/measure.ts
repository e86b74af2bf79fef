import { type Contestant } from './contestants.js';
import { type Row } from './figures.js';

/** How much is measured. */
export interface Scale {
  /** The first value for a full run, the second for a quick one. */
  readonly pick: <T>(full: T, quick: T) => T;
}

/** One thing that is measured, of several contestants. The README says how. */
export interface Measure {
  readonly name: string;
  readonly title: string;
  readonly run: (scale: Scale) => Promise<readonly Row[]>;
  /** SVG, to stand below the table. */
  readonly picture?: (rows: readonly Row[]) => string;
}

/** By then V8 has compiled what runs often, and has collected what the start left, which it does some 15 s after it. */
export const SETTLED_MS = 30_000;

/** Measures all contestants at once; for measures that mostly wait. */
export function sideBySide(
  contestants: readonly Contestant[],
  measure: (contestant: Contestant) => Promise<Row['cells']>,
): Promise<Row[]> {
  return Promise.all(contestants.map(async (one) => ({ name: one.name, cells: await measure(one) })));
}

/** Measures them one after the other. */
export async function inTurn(
  contestants: readonly Contestant[],
  measure: (contestant: Contestant) => Promise<Row['cells']>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const one of contestants) rows.push({ name: one.name, cells: await measure(one) });
  return rows;
}

/** Something several times over, one after the other. */
export async function times<T>(count: number, once: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let i = 0; i < count; i++) results.push(await once(i));
  return results;
}
