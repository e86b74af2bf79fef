import { styleText } from 'node:util';
import { type WorkerEventPayload } from '../replicas/worker-process.js';
import { type Job, JOBS } from '../replicas/workers.js';
import { LOCK_EXPIRY, NODES, type ReplicaEvent } from './replicas.js';

type Style = Parameters<typeof styleText>[0];
const STATES = { absent: ' ', follows: '·', leads: '│', runs: '┃' };
type State = keyof typeof STATES;

const HUES: Readonly<Record<Job, Style>> = { heartbeat: 'cyan', 'price-tick': 'yellow', 'daily-report': 'magenta' };

/** How long an event may take from a replica to the demo. */
const LATENCY_MS = 60;

/** The end of a run that took longer is shown. */
const LONG_RUN_MS = 300;

/** What the page shows first. */
export const LEGEND = `
 ${hued('heartbeat', 'h heartbeat   ')}  1 s after its last run
 ${hued('price-tick', 'p price-tick  ')}  every 500 ms; each fifth run takes 1.2 s
 ${hued('daily-report', 'd daily-report')}  by cron, each day; a day lasts 3 s here

 lockExpiry is '${LOCK_EXPIRY}': the jobs of a killed leader go on within a second.

 ◆ takes the lead   │ leads   ● run starts   ┃ run continues   ✓ long run ends
 · follows          ◇ gives the lead back    ○ tick dropped   ✖ dies`;

/** The sign replaces the state of the job in the line. Without words there is no line. */
type Look = readonly [sign: string, style: Style, words: string];
type LookOf = (node: string, payload: WorkerEventPayload, pid?: number) => Look;

const LOOKS: { readonly [E in ReplicaEvent['event']]?: LookOf } = {
  ready: (node, _, pid = NaN) => ['', 'bold', `${node} is there, pid ${pid}`],
  stopping: (node) => ['', 'yellow', `${node} is stopped (SIGTERM)`],
  killed: (node) => ['', 'red', `${node} is killed (SIGKILL)`],
  exited: (node) => ['✖', 'bold', `${node} is gone`],
  storeUnreachable: (node) => ['', 'red', `${node} cannot reach Redis`],
  storeRecovered: (node) => ['', 'bold', `${node} reaches Redis again`],
  leadershipGained: (node, { fencingToken = NaN }) => ['◆', 'bold', `${node} leads, token ${fencingToken}`],
  leadershipReleased: (node, { confirmed }) => {
    return ['◇', 'bold', `${node} gives the lead back${confirmed === true ? '' : ', not confirmed: it expires'}`];
  },
  leadershipLost: (node, { reason = '' }) => ['✖', 'red', `${node} lost the lead: ${reason}`],
  runStarted: (node, { cause, scheduledAt = '' }) => {
    const late = cause === 'misfire' ? `, late for ${clockTime(Date.parse(scheduledAt))}` : '';
    return ['●', 'dim', `runs on ${node}${late}`];
  },
  runSucceeded: (node, { durationMs = 0 }) => {
    return ['✓', 'dim', durationMs < LONG_RUN_MS ? '' : `done on ${node} after ${inWords(durationMs)}`];
  },
  runFailed: (node) => ['✖', 'red', `failed on ${node}`],
  runCancelled: (node, { code = '' }) => ['✖', 'red', `aborted on ${node}: ${code}`],
  tickDropped: (_, { reason = '' }) => {
    return ['○', 'dim', `tick dropped, ${reason === 'overlap' ? 'its last run continues' : reason}`];
  },
  occurrencesMissed: (_, { count = 1, reason = '' }) => ['!', 'red', `${count} not run: ${reason}`],
};

const follows = (): State => 'follows';
// a run may end after its leader has lost the lead
const afterRun = (state: State): State => (state === 'runs' ? 'leads' : state);

const NEXT_STATE: { readonly [E in ReplicaEvent['event']]?: (state: State) => State } = {
  ready: (state) => (state === 'absent' ? 'follows' : state),
  exited: () => 'absent',
  leadershipGained: () => 'leads',
  leadershipReleased: follows,
  leadershipLost: follows,
  runStarted: () => 'runs',
  runSucceeded: afterRun,
  runFailed: afterRun,
  runCancelled: afterRun,
};

/** Prints one line for each event: the time, the state of each job on each replica, and what happened. */
export class Timeline {
  readonly #states = new Map<string, State>();
  #waiting: { readonly atMs: number; readonly line: () => string | undefined }[] = [];

  add(event: ReplicaEvent): void {
    this.#enqueue(event.atMs, () => this.#lineOf(event));
  }

  /** A line between the events. */
  note(line: string): void {
    this.#enqueue(Date.now(), () => line);
  }

  /** Begins a part of the demo. */
  announce(title: string): void {
    const names = NODES.map((node) => `  ${styleText('bold', node)}`).join(' '.repeat(6));
    const letters = JOBS.map((job) => hued(job, job.charAt(0))).join(' ');
    this.note(`\n${styleText('bold', ` ${title}`)} ${styleText('dim', '─'.repeat(Math.max(0, 78 - title.length)))}`);
    this.note(' '.repeat(16) + names);
    this.note(' '.repeat(16) + NODES.map(() => letters).join('    '));
  }

  /** Prints everything that waits. */
  flush(beforeMs = Infinity): void {
    const due = this.#waiting.filter(({ atMs }) => atMs < beforeMs);
    this.#waiting = this.#waiting.filter(({ atMs }) => atMs >= beforeMs);
    const lines = due.sort((a, b) => a.atMs - b.atMs).map(({ line }) => line());
    for (const line of lines) if (line !== undefined) console.log(line);
  }

  /** The events of several processes arrive in another order than they happened, so each waits for earlier ones. */
  #enqueue(atMs: number, line: () => string | undefined): void {
    this.#waiting.push({ atMs, line });
    setTimeout(() => {
      this.flush(Date.now() - LATENCY_MS);
    }, LATENCY_MS + 2);
  }

  #lineOf({ event, node, pid, atMs, payload = {} }: ReplicaEvent): string | undefined {
    const [sign = '', style = 'dim', words = ''] = LOOKS[event]?.(node, payload, pid) ?? [];
    const subject = JOBS.find((job) => job === payload.job);
    const signs = new Map<string, string>();
    for (const job of subject === undefined ? JOBS : [subject]) {
      const cell = `${node} ${job}`;
      const state = this.#states.get(cell) ?? 'absent';
      // of a process that is gone only the jobs that it led are marked
      if (sign !== '' && (job === subject || state === 'leads' || state === 'runs')) signs.set(cell, sign);
      this.#states.set(cell, NEXT_STATE[event]?.(state) ?? state);
    }
    if (words === '') return undefined;
    const cells = NODES.map((node) => JOBS.map((job) => this.#cell(node, job, signs)).join(' ')).join('    ');
    const about = subject === undefined ? '' : `${hued(subject, subject.padEnd(12))}  `;
    return ` ${styleText('dim', clockTime(atMs))}   ${cells}   ${about}${styleText(style, words)}`;
  }

  #cell(node: string, job: Job, signs: ReadonlyMap<string, string>): string {
    const cell = `${node} ${job}`;
    const text = signs.get(cell) ?? STATES[this.#states.get(cell) ?? 'absent'];
    if (text === '✖') return styleText('red', text);
    return text === STATES.follows ? styleText('dim', text) : hued(job, text);
  }
}

function hued(job: Job, text: string): string {
  return styleText(HUES[job], text);
}

/** In milliseconds what is quick, in seconds what is not. */
export function inWords(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`;
}

/** With milliseconds, which show that fixed-rate runs keep to their grid on every replica. */
function clockTime(atMs: number): string {
  const date = new Date(atMs);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
