import { type Row } from './row.js';

interface Column {
  readonly head: string;
  readonly cell: (row: Row) => string;
  readonly isText?: boolean;
}

const COLUMNS: readonly Column[] = [
  { head: 'fault', cell: ({ fault }) => fault, isText: true },
  { head: 'times', cell: ({ times }) => String(times) },
  { head: 'runs', cell: ({ runs }) => String(runs) },
  { head: 'overlaps', cell: ({ overlaps }) => String(overlaps) },
  { head: 'stale starts', cell: ({ staleStarts }) => String(staleStarts) },
  { head: 'doubled', cell: ({ doubled }) => String(doubled) },
  { head: 'lost', cell: ({ lost }) => String(lost) },
  { head: 'worst time without a leader', cell: ({ leaderlessMs }) => `${(leaderlessMs / 1_000).toFixed(2)} s` },
  { head: 'bound', cell: ({ bound }) => bound, isText: true },
  { head: '', cell: ({ isBroken }) => (isBroken ? 'BROKEN' : 'kept'), isText: true },
];

/** For a terminal. */
export function plainTable(rows: readonly Row[]): string {
  const lines = [COLUMNS.map(({ head }) => head), ...rows.map((row) => COLUMNS.map(({ cell }) => cell(row)))];
  const widths = COLUMNS.map((_, index) => Math.max(...lines.map((cells) => cells[index]?.length ?? 0)));
  const padded = lines.map((cells) =>
    cells
      .map((text, index) => {
        const width = widths[index] ?? 0;
        return COLUMNS[index]?.isText === true ? text.padEnd(width) : text.padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
  return padded.join('\n');
}

/** For a page. */
export function markdownTable(rows: readonly Row[]): string {
  const lines = [
    COLUMNS.map(({ head }) => head),
    COLUMNS.map(({ isText }) => (isText === true ? '---' : '---:')),
    ...rows.map((row) => COLUMNS.map(({ cell }) => cell(row))),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
