import { type ClockFaults } from './process-clock.js';
import { type Weather, weatherInWords } from './weather.js';

/** A story before it is played: all that is drawn from its seed, so that a part of it can be left out. */
export interface Plan {
  readonly seed: number;
  readonly setting: Setting;
  /** The clocks of the processes that the story begins with: one process for each. */
  readonly clocks: readonly ClockFaults[];
  /** In the order in which they strike. */
  readonly faults: readonly Fault[];
}

/** What a fleet is set to, and how long its story is. */
export interface Setting {
  readonly heartbeatIntervalMs: number;
  readonly lockExpiryMs: number;
  readonly shutdownTimeoutMs: number;
  readonly misfireGraceMs: number;
  /** The three jobs: the period of the grid, the gap of the interval, the seconds between two occurrences. */
  readonly periodMs: number;
  readonly delayMs: number;
  readonly cronSeconds: number;
  /** The same in the next version, which processes run that start between roll-out and roll-back; its occurrences are some of those, or more. */
  readonly nextCronSeconds: number;
  readonly rollOutMs: number;
  readonly rollBackMs: number;
  readonly overlap: 'skip' | 'cancel-other';
  /** The share of runs that do not mind their signal. */
  readonly stubborn: number;
  /** How many milliseconds of the store's clock pass in one of true time. */
  readonly serverRate: number;
  readonly faultsForMs: number;
  readonly calmForMs: number;
}

/** What README promises of every lease: a run may take this long to settle after its signal. */
export function safetyMarginMs(lockExpiryMs: number): number {
  return Math.max(lockExpiryMs / 10, 25);
}

/** The jobs of every process: one of each kind. */
export const JOBS = ['grid', 'pause', 'cron'] as const;
type JobName = (typeof JOBS)[number];

export type Command = 'acquire' | 'renew' | 'claim' | 'release';
/** Where in the life of a process a crash may hit it: between any two steps of a command, or of a run. */
export type Step = `${Command} sent` | `${Command} carried out` | 'run begun' | 'run ended';

/** When a process comes back, and with which clocks. */
export interface Restart {
  readonly downForMs: number;
  readonly clock: ClockFaults;
}

/** One process has this place in the fleet at a time. A fault on an empty place does nothing. */
interface AtPlace {
  readonly atMs: number;
  readonly place: number;
}

/** Something goes wrong. Without a `place` it happens to all of them, or to the store. */
export type Fault =
  | (AtPlace & Restart & { readonly kind: 'kill' })
  /** The process dies the next time that it comes to this step. */
  | (AtPlace & Restart & { readonly kind: 'crash'; readonly step: Step })
  | (AtPlace & Restart & { readonly kind: 'stop' })
  /** Stands still, with its monotonic clock going on (SIGSTOP, a blocked loop) or not (a suspended host). */
  | (AtPlace & { readonly kind: 'pause' | 'suspend'; readonly forMs: number })
  | (AtPlace & { readonly kind: 'clock-step'; readonly byMs: number })
  /** Somebody asks the process to give every job that it leads to another. */
  | (AtPlace & { readonly kind: 'step-down' })
  | (AtPlace & { readonly kind: 'weather'; readonly weather: Weather; readonly forMs: number })
  | { readonly atMs: number; readonly kind: 'weather-for-all'; readonly weather: Weather; readonly forMs: number }
  /** The wall clock of the store is set: locks run out by it. */
  | { readonly atMs: number; readonly kind: 'store-clock-step'; readonly byMs: number }
  /** The store takes commands and does not get to them. */
  | { readonly atMs: number; readonly kind: 'store-hangs'; readonly forMs: number }
  /** The store forgets everything; `forMs` it cannot be reached meanwhile (0: FLUSHALL). */
  | { readonly atMs: number; readonly kind: 'data-loss'; readonly forMs: number }
  /**
   * What is written from now on is lost after `forMs`: a replica is promoted that missed it, or the store starts again with
   * what it last wrote to its disk, and cannot be reached for `downForMs`.
   */
  | { readonly atMs: number; readonly kind: 'fall-back'; readonly forMs: number; readonly downForMs: number }
  /** Somebody deletes one of the two keys of a job. */
  | { readonly atMs: number; readonly kind: 'lock-deleted' | 'state-deleted'; readonly job: JobName };

/** One line for a person. */
export function faultInWords(fault: Fault): string {
  const who = 'place' in fault ? `place ${fault.place}` : 'all';
  return `${String(Math.round(fault.atMs)).padStart(7)} ${fault.kind} ${who} ${detail(fault)}`.trimEnd();
}

function detail(fault: Fault): string {
  switch (fault.kind) {
    case 'kill':
    case 'stop':
      return `back after ${inWords(fault)}`;
    case 'crash':
      return `at the next '${fault.step}', back after ${inWords(fault)}`;
    case 'step-down':
      return 'from all jobs';
    case 'clock-step':
    case 'store-clock-step':
      return `by ${Math.round(fault.byMs)} ms`;
    case 'weather':
    case 'weather-for-all':
      return `${weatherInWords(fault.weather)} for ${Math.round(fault.forMs)} ms`;
    case 'fall-back':
      return `loses all of ${Math.round(fault.forMs)} ms, back after ${Math.round(fault.downForMs)} ms`;
    case 'lock-deleted':
    case 'state-deleted':
      return `of ${fault.job}`;
    case 'pause':
    case 'suspend':
    case 'store-hangs':
    case 'data-loss':
      return `for ${Math.round(fault.forMs)} ms`;
  }
}

function inWords({ downForMs, clock }: Restart): string {
  return `${Math.round(downForMs)} ms with its clock ${clockInWords(clock)}`;
}

/** What a fleet is set to, in a few lines. */
export function settingInWords({ setting, clocks }: Plan): string {
  const settings = Object.entries(setting).map(([name, value]) => `${name} ${String(value)}`);
  return [settings.join(', '), ...clocks.map((clock, place) => `place ${place}: ${clockInWords(clock)}`)].join('\n');
}

function clockInWords({ aheadMs, rate }: ClockFaults): string {
  return `${Math.round(aheadMs)} ms ahead at a rate of ${rate.toFixed(4)}`;
}
