import { styleText } from 'node:util';
import { type WorkerEvent, type WorkerEventPayload } from '../replicas/worker-process.js';
import { type Job, JOBS } from '../replicas/workers.js';

type Style = Parameters<typeof styleText>[0];
type EventName = WorkerEvent['event'] | 'exited';

const NODES = ['A', 'B', 'C'];
const HUES: Readonly<Record<Job, Style>> = { heartbeat: 'cyan', 'price-tick': 'yellow', 'daily-report': 'magenta' };

/** How long an event may take from a replica to the demo. */
const LATENCY_MS = 60;

/** What the page shows first. */
export const LEGEND = `
 ${styleText(HUES.heartbeat, 'h heartbeat   ')}  1 s after its last run
 ${styleText(HUES['price-tick'], 'p price-tick  ')}  every 500 ms; each fifth run takes 1.2 s
 ${styleText(HUES['daily-report'], 'd daily-report')}  by cron, each day; a day lasts 3 s here

 lockExpiry is '800ms': the jobs of a killed leader go on within a second.

 · follows   │ leads   ┃ runs`;

/** What an event makes of the job on its replica, and what it says. Without words there is no line. */
interface Look {
  readonly state?: string;
  readonly words?: (node: string, payload: WorkerEventPayload) => string;
}

const LOOKS: { readonly [E in EventName]?: Look } = {
  ready: { state: '·', words: (node) => `${node} is there` },
  exited: { state: ' ', words: (node) => `${node} is gone` },
  leadershipGained: { state: '│', words: (node, { fencingToken = NaN }) => `${node} leads, token ${fencingToken}` },
  leadershipReleased: { state: '·', words: (node) => `${node} releases it` },
  leadershipLost: { state: '·', words: (node, { reason = '' }) => `${node} lost the lead: ${reason}` },
  runStarted: { state: '┃', words: (node) => `runs on ${node}` },
  runSucceeded: { state: '│' },
  runFailed: { state: '│', words: (node) => `failed on ${node}` },
  runCancelled: { state: '│', words: (node, { code = '' }) => `aborted on ${node}: ${code}` },
  tickDropped: { words: (_, { reason = '' }) => `tick dropped: ${reason}` },
  occurrencesMissed: { words: (_, { count = 1, reason = '' }) => `${count} not run: ${reason}` },
};

/** Prints one line for each event: the time, the state of each job on each replica, and what happened. */
export class Timeline {
  /** The state of each job on each replica, by both. */
  readonly #states = new Map<string, string>();
  #waiting: { readonly atMs: number; readonly line: () => string }[] = [];

  add({ event, node, atMs, payload }: WorkerEvent): void {
    this.#enqueue(atMs, () => this.#lineOf(event, node, atMs, payload));
  }

  addExit(node: string, atMs: number): void {
    this.#enqueue(atMs, () => this.#lineOf('exited', node, atMs));
  }

  /** A line between the events. */
  note(line: string): void {
    this.#enqueue(Date.now(), () => line);
  }

  /** Begins a part of the demo. */
  announce(title: string): void {
    const names = NODES.map((node) => styleText('bold', `  ${node}  `)).join('    ');
    const letters = JOBS.map((job) => styleText(HUES[job], job.charAt(0))).join(' ');
    this.note(`\n${styleText('bold', ` ${title}`)}\n${' '.repeat(16)}${names}`);
    this.note(' '.repeat(16) + NODES.map(() => letters).join('    '));
  }

  /** Prints everything that waits. */
  flush(beforeMs = Infinity): void {
    const due = this.#waiting.filter(({ atMs }) => atMs < beforeMs);
    this.#waiting = this.#waiting.filter(({ atMs }) => atMs >= beforeMs);
    const lines = due.sort((a, b) => a.atMs - b.atMs).map(({ line }) => line());
    for (const line of lines) if (line !== '') console.log(line);
  }

  /** The events of several processes arrive in another order than they happened, so each waits for earlier ones. */
  #enqueue(atMs: number, line: () => string): void {
    this.#waiting.push({ atMs, line });
    setTimeout(() => {
      this.flush(Date.now() - LATENCY_MS);
    }, LATENCY_MS + 2);
  }

  #lineOf(event: EventName, node: string, atMs: number, payload: WorkerEventPayload = {}): string {
    const { state, words } = LOOKS[event] ?? {};
    const job = JOBS.find((name) => name === payload.job);
    // a job that runs once has no place in the picture
    if (job === undefined && payload.job !== undefined) return '';
    // an event without a job is one of the whole replica
    for (const one of job === undefined ? JOBS : [job]) {
      const before = this.#stateOf(node, one);
      // a replica may lead before it is ready, and a run may end after its leader has lost the lead
      const isLate = event === 'ready' ? before !== ' ' : event.startsWith('run') && before === '·';
      if (state !== undefined && !isLate) this.#states.set(`${node} ${one}`, state);
    }
    if (words === undefined) return '';
    const cells = NODES.map((name) => JOBS.map((one) => styleText(HUES[one], this.#stateOf(name, one))).join(' '));
    const about = job === undefined ? '' : styleText(HUES[job], `${job.padEnd(12)}  `);
    return ` ${styleText('dim', clockTime(atMs))}   ${cells.join('    ')}   ${about}${words(node, payload)}`;
  }

  #stateOf(node: string, job: Job): string {
    return this.#states.get(`${node} ${job}`) ?? ' ';
  }
}

/** With milliseconds, which show that fixed-rate runs keep to their grid on every replica. */
function clockTime(atMs: number): string {
  const date = new Date(atMs);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
