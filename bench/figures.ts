/** Several measurements of one thing. */
export interface Figure {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** A figure, a single number, or a word where there is nothing to measure. */
export type Cell = Figure | number | string;

/** What was measured of one contestant. */
export interface Row {
  readonly name: string;
  readonly cells: Readonly<Record<string, Cell>>;
}

/** The middle of the values and how far they spread. 'not seen' without any. */
export function figure(values: readonly number[]): Figure | string {
  if (values.length === 0) return 'not seen';
  return { median: percentile(values, 0.5), min: Math.min(...values), max: Math.max(...values) };
}

/** The nearest rank. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

export function medianOf(cell: Cell | undefined): number {
  return typeof cell === 'object' ? cell.median : Number(cell);
}

/** Rows of several rounds and processes, each with single numbers, as one table of figures. */
export function combine(rounds: readonly (readonly Row[])[]): Row[] {
  const ofEachName = new Map(rounds.flat().map((row) => [row.name, row])).values();
  return [...ofEachName].map(({ name, cells }) => {
    const all = rounds.flatMap((rows) => rows.filter((row) => row.name === name));
    const columns = Object.keys(cells).map((column) => {
      const values = all.map((row) => row.cells[column]).filter((cell) => typeof cell === 'number');
      return [column, values.length === 0 ? (cells[column] ?? '') : figure(values)] as const;
    });
    return { name, cells: Object.fromEntries(columns) };
  });
}

/** One table of several: what each has of a contestant is in one row. */
export function join(tables: readonly (readonly Row[])[]): Row[] {
  return (tables[0] ?? []).map(({ name }) => {
    const cells = tables.map((rows) => rows.find((row) => row.name === name)?.cells ?? {});
    return { name, cells: Object.assign({}, ...cells) as Row['cells'] };
  });
}

/** Three digits are all that a figure is worth. */
export function inDigits(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(Number.isInteger(value) ? 0 : digits);
}

export function inWords(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'number') return inDigits(cell);
  const { median, min, max } = cell;
  return min === max ? inDigits(median) : `${inDigits(median)} (${inDigits(min)}–${inDigits(max)})`;
}
