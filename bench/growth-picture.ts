import { inDigits, medianOf, type Row } from './figures.js';

const STYLE = `text{font:13px system-ui,sans-serif;fill:#24292f}.small{font-size:11px}.bold{font-weight:bold}
.load{fill:#54aeff}.cold{fill:#8c959f}.kill{fill:#cf222e}.restart{fill:#9a6700}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.load{fill:#1f6feb}.cold{fill:#6e7681}.kill{fill:#ff7b72}
.restart{fill:#d29922}}`;

/** The bars of a row: where they begin, how high each is, and the columns of the table that they show. */
const BARS = [
  { x: 170, height: 12, columns: { load: 'commands per s' } },
  {
    x: 440,
    height: 4,
    columns: {
      cold: 'cold start to all led, ms',
      kill: 'kill to all led, ms',
      restart: 'restart to all led, ms',
    },
  },
] as const;
const WIDTH = 230;
const [TOP, ROW] = [44, 24];

/** The load of the server and how soon all jobs are led, as bars, in light and dark. */
export function growthPicture(rows: readonly Row[]): string {
  const bars = BARS.flatMap(({ x, height, columns }) => {
    const entries = Object.entries(columns);
    const valuesOf = ({ cells }: Row): number[] => entries.map(([, column]) => medianOf(cells[column]));
    const scale = WIDTH / Math.max(...rows.flatMap(valuesOf));
    return rows.flatMap((row, i) => {
      const values = valuesOf(row);
      const longest = Math.max(...values);
      const y = TOP + i * ROW;
      const label = text(x + longest * scale + 4, y + 11, inDigits(longest), 'small');
      return [...entries.map(([name], n) => rect(name, x, y + n * height, (values[n] ?? 0) * scale, height)), label];
    });
  });
  const names = rows.map(({ name }, i) => text(0, TOP + i * ROW + 11, name));
  const legend = BARS.flatMap(({ x, columns }) =>
    Object.entries(columns).flatMap(([name, column], i) => [
      rect(name, x + i * 110, 26, 8, 8),
      text(x + i * 110 + 12, 34, column.replace(' to all led, ms', ''), 'small'),
    ]),
  );
  const titles = [
    text(0, 15, 'jobs × replicas', 'bold'),
    text(170, 15, 'load', 'bold'),
    text(440, 15, 'ms until all jobs are led', 'bold'),
  ];
  const height = TOP + rows.length * ROW;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 ${height}" width="760" role="img">`;
  return [head, `<style>${STYLE}</style>`, ...titles, ...legend, ...names, ...bars, '</svg>', ''].join('\n');
}

function rect(name: string, x: number, y: number, width: number, height: number): string {
  return `<rect class="${name}" x="${x}" y="${y}" width="${width.toFixed(1)}" height="${height}"/>`;
}

function text(x: number, y: number, words: string, name = ''): string {
  return `<text class="${name}" x="${x.toFixed(1)}" y="${y}">${words}</text>`;
}
