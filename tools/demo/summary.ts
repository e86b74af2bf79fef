import { styleText } from 'node:util';
import { brokenFences, overlaps, type RecordedRun, reportsIn, unaccountedOccurrences } from '../replicas/history.js';
import { JOBS } from '../replicas/workers.js';
import { DAY_MS, type ReplicaEvent } from './replicas.js';
import { inWords } from './timeline.js';

const HEADS = [
  ['', '', 'hand-over', 'hand-over', '', 'dropped', 'overlapping'],
  ['job', 'leaders', 'on SIGTERM', 'on SIGKILL', 'runs', 'ticks', 'runs'],
];
const LEADERS_SHOWN = 5;

interface Summary {
  /** The table, one line for each job below two lines of heads. */
  readonly table: readonly string[];
  /** What went wrong: nothing if the library kept its promises. */
  readonly faults: readonly string[];
}

export function summarize(events: readonly ReplicaEvent[], runs: readonly RecordedRun[]): Summary {
  const inOrder = [...events].sort((a, b) => a.atMs - b.atMs);
  const rows = JOBS.map((job) => {
    const own = inOrder.filter(({ payload }) => payload === undefined || payload.job === job);
    return rowOf(
      job,
      own,
      runs.filter((run) => run.job === job),
    );
  });
  return {
    table: aligned([...HEADS, ...rows]),
    faults: [...brokenPromises(inOrder, runs), ...crashesIn(events)],
  };
}

/** The replicas that exited with an error. */
export function crashesIn(events: readonly ReplicaEvent[]): string[] {
  return events.flatMap((event) => {
    const code = event.event === 'exited' ? (event.exitCode ?? 0) : 0;
    return code === 0 ? [] : [`${event.node} crashed with exit code ${code}`];
  });
}

function brokenPromises(events: readonly ReplicaEvent[], runs: readonly RecordedRun[]): string[] {
  const reports = events.flatMap(({ event, payload = {}, node, atMs }) =>
    reportsIn(event, payload, { node, atMs }, DAY_MS),
  );
  const isReport = ({ job }: { readonly job: string }): boolean => job === 'daily-report';
  const days = unaccountedOccurrences(runs.filter(isReport), reports.filter(isReport), DAY_MS);
  return [
    ...overlaps(runs).map(([a, b]) => `${a.job}: a run on ${b.node} began before a run on ${a.node} had ended`),
    ...brokenFences(runs).map(([a, b]) => `${a.job}: token ${b.fencingToken} came after token ${a.fencingToken}`),
    ...days.map((day) => `daily-report: ${day}`),
  ];
}

function rowOf(job: string, events: readonly ReplicaEvent[], runs: readonly RecordedRun[]): string[] {
  const leaders = events.filter(({ event }) => event === 'leadershipGained').map(({ node }) => node);
  const { graceful, kills } = handOvers(events, runs);
  const drops = events.filter(({ event }) => event === 'tickDropped');
  return [
    job,
    [...(leaders.length > LEADERS_SHOWN ? ['…'] : []), ...leaders.slice(-LEADERS_SHOWN)].join(' → '),
    slowest(graceful),
    slowest(kills),
    String(runs.length),
    String(drops.reduce((sum, { payload }) => sum + (payload?.count ?? 1), 0)),
    String(new Set(overlaps(runs).map(([, second]) => second)).size),
  ];
}

/**
 * How long each hand-over took. After a SIGTERM from the end of the last run on the old leader, or from the signal if no run
 * was in flight. After a SIGKILL from the end of the process.
 */
function handOvers(
  events: readonly ReplicaEvent[],
  runs: readonly RecordedRun[],
): Record<'graceful' | 'kills', number[]> {
  const [graceful, kills]: [number[], number[]] = [[], []];
  const terms = events.filter(({ event }) => event === 'leadershipGained');
  terms.slice(1).forEach(({ atMs: gainedAtMs }, index) => {
    const { node, atMs: fromMs = 0 } = terms[index] ?? {};
    const when = (wanted: ReplicaEvent['event']): number | undefined =>
      events.find((e) => e.event === wanted && e.node === node && fromMs <= e.atMs && e.atMs <= gainedAtMs)?.atMs;
    const [stoppedAtMs, exitedAtMs] = [when('stopping'), when('exited')];
    const ends = runs.filter((run) => run.node === node && run.endedAtMs <= gainedAtMs).map((run) => run.endedAtMs);
    if (stoppedAtMs !== undefined) graceful.push(gainedAtMs - Math.max(stoppedAtMs, ...ends));
    else if (exitedAtMs !== undefined) kills.push(gainedAtMs - exitedAtMs);
  });
  return { graceful, kills };
}

function slowest(times: readonly number[]): string {
  return times.length === 0 ? '–' : inWords(Math.max(...times));
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widthOf = (column: number): number => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  // the first two columns are text, the others numbers
  const pad = (text: string, column: number): string =>
    column < 2 ? text.padEnd(widthOf(column)) : text.padStart(widthOf(column));
  const lines = rows.map((row) => ` ${row.map(pad).join('   ')}`.trimEnd());
  return lines.map((line, index) => (index < HEADS.length ? styleText('dim', line) : line));
}
