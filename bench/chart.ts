import { type Cell, inDigits, medianOf, type Row } from './figures.js';

const WIDTH = 760;
const LABELS = 220;
const BAR = 18;
const LINE = 28;
const TOP = 40;
/** Readable on a light and on a dark page. */
const STYLE = `text{font:13px system-ui,sans-serif;fill:#24292f}.bar{fill:#2f81f7}.spread{stroke:#8b949e;stroke-width:1.5}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}}`;

/** A bar for each row, with a thin line from the least to the most. */
export function chartOf({ title, rows }: { title: string; rows: readonly Row[] }, column: string): string {
  const bars = rows.flatMap(({ name, cells }) => {
    const cell = cells[column];
    return cell === undefined || !Number.isFinite(medianOf(cell)) ? [] : [{ name, cell }];
  });
  const most = Math.max(...bars.map(({ cell }) => greatest(cell)), 1e-9);
  const x = (value: number): number => round(LABELS + (value / most) * (WIDTH - LABELS - 80));
  const drawn = bars.map(({ name, cell }, index) => {
    const y = TOP + index * LINE;
    const middle = y + BAR / 2;
    const spread =
      typeof cell === 'object' ? `<path class="spread" d="M${x(cell.min)} ${middle}H${x(cell.max)}"/>` : '';
    return `<text x="${LABELS - 10}" y="${middle + 4}" text-anchor="end">${escape(name)}</text>
<rect class="bar" x="${LABELS}" y="${y}" width="${round(x(medianOf(cell)) - LABELS)}" height="${BAR}"/>${spread}
<text x="${x(greatest(cell)) + 8}" y="${middle + 4}">${inDigits(medianOf(cell))}</text>`;
  });
  const height = TOP + bars.length * LINE + 4;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" role="img">
<style>${STYLE}</style>
<text x="0" y="20" font-weight="bold">${escape(`${title}: ${column}`)}</text>
${drawn.join('\n')}
</svg>
`;
}

function greatest(cell: Cell): number {
  return typeof cell === 'object' ? cell.max : Number(cell);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
