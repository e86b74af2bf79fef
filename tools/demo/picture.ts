import { type RecordedRun } from '../replicas/history.js';
import { LOCK_EXPIRY, NODES, type ReplicaEvent } from './replicas.js';

const [WIDTH, LEFT, TOP, ROW] = [760, 90, 70, 46];

const STYLE = `text{font:13px system-ui,sans-serif;fill:#24292f}.small{font-size:11px}.bold{font-weight:bold}
.replica{fill:#8c959f}.leader{fill:#54aeff}.run{fill:#0550ae}.stopped{stroke:#9a6700}.killed{stroke:#cf222e}
line{stroke-width:2}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.replica{fill:#6e7681}.leader{fill:#1f6feb}.run{fill:#a5d6ff}
.stopped{stroke:#d29922}.killed{stroke:#ff7b72}}`;

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Story {
  readonly job: string;
  readonly events: readonly ReplicaEvent[];
  /** Those of the job. */
  readonly runs: readonly RecordedRun[];
  readonly endMs: number;
}

/** An SVG of one job on all replicas: when each replica is there, when it leads the job, and its runs. */
export function drawPicture({ job, events, runs, endMs }: Story): string {
  const inOrder = events.toSorted((a, b) => a.atMs - b.atMs);
  const startMs = inOrder.find(({ event }) => event === 'ready')?.atMs ?? endMs;
  const x = (atMs: number): number =>
    LEFT + ((Math.min(atMs, endMs) - startMs) / (endMs - startMs)) * (WIDTH - LEFT - 10);
  const bar = (kind: string, { fromMs, toMs }: Span, y: number, height: number): string => {
    const width = Math.max(2, x(toMs) - x(fromMs));
    return `<rect class="${kind}" x="${x(fromMs).toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${height}"/>`;
  };
  const drawRow = (node: string, index: number): string[] => {
    const y = TOP + index * ROW;
    const own = inOrder.filter((event) => event.node === node);
    const ofJob = own.filter(({ payload }) => payload === undefined || payload.job === job);
    return [
      `<text class="bold" x="0" y="${y + 15}">replica ${node}</text>`,
      ...spans(own, 'ready', ['exited'], endMs).map((span) => bar('replica', span, y + 7, 6)),
      ...spans(ofJob, 'leadershipGained', ['leadershipReleased', 'leadershipLost', 'exited'], endMs).map((span) =>
        bar('leader', span, y, 20),
      ),
      ...runs
        .filter((run) => run.node === node)
        .map((run) => bar('run', { fromMs: run.startedAtMs, toMs: run.endedAtMs }, y + 5, 10)),
      ...own.flatMap(({ event, atMs }) => {
        if (event !== 'stopping' && event !== 'killed') return [];
        const [kind, text] = event === 'killed' ? ['killed', 'killed (SIGKILL)'] : ['stopped', 'stopped (SIGTERM)'];
        const at = x(atMs).toFixed(1);
        return [
          `<line class="${kind}" x1="${at}" x2="${at}" y1="${y - 6}" y2="${y + 26}"/>`,
          `<text class="small" x="${at}" y="${y - 10}" text-anchor="middle">${text}</text>`,
        ];
      }),
    ];
  };
  const legend = [
    ['replica', 'follows'],
    ['leader', 'leads'],
    ['run', `runs ${job}`],
  ].flatMap(([kind = '', text = ''], index) => [
    `<rect class="${kind}" x="${LEFT + index * 90}" y="26" width="14" height="10"/>`,
    `<text class="small" x="${LEFT + index * 90 + 20}" y="35">${text}</text>`,
  ]);
  const seconds = ((endMs - startMs) / 1_000).toFixed(0);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${TOP + NODES.length * ROW}" width="${WIDTH}" role="img">`,
    `<style>${STYLE}</style>`,
    `<text class="bold" x="0" y="15">One job on three replicas, ${seconds} s of a real run (lockExpiry ${LOCK_EXPIRY})</text>`,
    ...legend,
    ...NODES.flatMap(drawRow),
    '</svg>',
    '',
  ].join('\n');
}

/** From each beginning to the next of its ends. */
function spans(
  events: readonly ReplicaEvent[],
  beginning: ReplicaEvent['event'],
  ends: readonly ReplicaEvent['event'][],
  endMs: number,
): Span[] {
  return events.flatMap(({ event, atMs }, index) => {
    if (event !== beginning) return [];
    const end = events.slice(index).find((later) => ends.includes(later.event));
    return [{ fromMs: atMs, toMs: end?.atMs ?? endMs }];
  });
}
