import { type Paint } from './paint.js';
import { type JobScore } from './scoreboard.js';
import { inWords } from './words.js';

interface Column {
  readonly head: readonly [string, string];
  readonly cell: (score: JobScore) => string;
  readonly isText?: boolean;
}

const COLUMNS: readonly Column[] = [
  { head: ['', 'job'], cell: ({ job }) => job, isText: true },
  { head: ['', 'leaders'], cell: ({ leaders }) => chain(leaders), isText: true },
  { head: ['hand-over', 'on SIGTERM'], cell: ({ graceful }) => slowest(graceful) },
  { head: ['hand-over', 'on SIGKILL'], cell: ({ kills }) => slowest(kills) },
  { head: ['', 'runs'], cell: ({ runs }) => String(runs) },
  { head: ['dropped', 'ticks'], cell: ({ dropped }) => String(dropped) },
  { head: ['overlapping', 'runs'], cell: ({ overlapping }) => String(overlapping) },
];

const LEADERS_SHOWN = 5;

/** The scores as a table, one line per job, below two lines of heads. */
export function table(scores: readonly JobScore[], paint: Paint): string[] {
  const rows = scores.map((score) => COLUMNS.map(({ cell }) => cell(score)));
  const widths = COLUMNS.map(({ head }, index) =>
    Math.max(...[...head, ...rows.map((row) => row[index] ?? '')].map((text) => text.length)),
  );
  const line = (cells: readonly string[]): string => {
    const padded = cells.map((text, index) => {
      const width = widths[index] ?? 0;
      return COLUMNS[index]?.isText === true ? text.padEnd(width) : text.padStart(width);
    });
    return ` ${padded.join('   ').trimEnd()}`;
  };
  const heads = [0, 1].map((index) => line(COLUMNS.map(({ head }) => head[index] ?? '')));
  return [...heads.map((head) => paint('dim', head)), ...rows.map(line)];
}

function chain(leaders: readonly string[]): string {
  const shown = leaders.slice(-LEADERS_SHOWN);
  return (shown.length < leaders.length ? ['…', ...shown] : shown).join(' → ');
}

function slowest(times: readonly number[]): string {
  return times.length === 0 ? '–' : inWords(Math.max(...times));
}
