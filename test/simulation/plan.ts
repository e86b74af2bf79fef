import { type RebalanceTimes } from '../../libs/singleton-job/src/options/resolve-options.js';
import { lockLifeMs } from '../../libs/singleton-job/src/store/lock-store.js';
import { type ClockFaults } from './process-clock.js';
import { type NetworkConditions, conditionsInWords } from './network-conditions.js';

/** A scenario before it is played: everything that its seed draws. So a part of it can be left out. */
export interface Plan {
  readonly seed: number;
  readonly setting: Setting;
  /** The clocks of the first processes, one for each process. */
  readonly clocks: readonly ClockFaults[];
  /** In the order in which they are injected. */
  readonly faults: readonly Fault[];
}

/** The faults of a scenario: only ends of processes and of leaderships, all faults except losses of data, or all faults. */
export type Temper = 'ends' | 'mild' | 'harsh';

/** The jobs of every process. At first one of each kind. */
export const JOBS = ['grid', 'pause', 'cron', 'feed'] as const;
export type JobName = (typeof JOBS)[number];

/** The kind of a schedule. */
export type Kind = 'fixed-rate' | 'interval' | 'cron' | 'while-leader';

/** What a new version of the application changes. */
export interface Version {
  readonly kinds: Readonly<Record<JobName, Kind>>;
  /** `lockExpiry` of each job. Jobs with the same share a session. */
  readonly lockExpiryMs: Readonly<Record<JobName, number>>;
  readonly cronSeconds: number;
}

/** The settings of the replicas, and the length of the scenario. */
export interface Setting {
  readonly heartbeatIntervalMs: number;
  readonly shutdownTimeoutMs: number;
  /** Whether the processes at each place have a heartbeat thread. */
  readonly threads: readonly boolean[];
  readonly misfireGraceMs: number;
  /** The period of the grid and the delay of the interval. */
  readonly periodMs: number;
  readonly delayMs: number;
  readonly version: Version;
  /** Of processes that start between roll-out and roll-back. */
  readonly next: Version;
  readonly rollOutMs: number;
  readonly rollBackMs: number;
  readonly overlap: 'skip' | 'cancel-other';
  /** The share of runs that ignore their signal. */
  readonly ignoringSignal: number;
  /** How many milliseconds of the store's clock pass in one millisecond of true time. */
  readonly serverRate: number;
  /** A proxy keeps connections when the server restarts. */
  readonly isProxied: boolean;
  /** `expiry` of a lock of `LockService` that all processes take beside their jobs. Undefined: they take none. */
  readonly lockExpiryMs: number | undefined;
  /** The sessions are on one node of a cluster, the locks of all jobs on another one. */
  readonly isCluster: boolean;
  /** Timers of the processes fire up to so much early. */
  readonly earlyTimersMs: number;
  /** Leaderships even out in these times. Undefined: they do not. */
  readonly rebalance: RebalanceTimes | undefined;
  readonly faultsForMs: number;
}

/** The longest `lockExpiry` of a setting: all leases have ended so long after the store was last reached. */
export function longestExpiryMs({ version, next }: Setting): number {
  return Math.max(...Object.values(version.lockExpiryMs), ...Object.values(next.lockExpiryMs));
}

/** Whether only processes and leaderships end, and every run obeys its signal. */
export function hasOnlyEnds({ faults, setting }: Plan): boolean {
  return (
    setting.ignoringSignal === 0 && faults.every(({ kind }) => ['kill', 'crash', 'stop', 'step-down'].includes(kind))
  );
}

/** Whether the interval job has its schedule in all versions. */
export function keepsInterval({ version, next }: Setting): boolean {
  return version.kinds.pause === 'interval' && next.kinds.pause === 'interval';
}

/** The last tenth of a lease: a run may take this long to settle after its signal. */
export function safetyMarginMs(lockExpiryMs: number): number {
  return lockExpiryMs / 10;
}

/** How long the key of a lock lives whose session is lost. */
export function longestLockLifeMs(setting: Setting): number {
  return lockLifeMs(longestExpiryMs(setting));
}

export type Request = 'heartbeat' | 'endSession' | 'acquire' | 'renew' | 'claim' | 'release' | 'setPaused' | 'publish';
/** The steps at which a process may crash: between any two steps of a request or a run. */
export type Step = `${Request} sent` | `${Request} carried out` | 'run begun' | 'run ended';

/** When a process comes back, and with which clocks. Infinity: never. */
export interface Restart {
  readonly downForMs: number;
  readonly clock: ClockFaults;
}

/** The place of the process. A place has one process at a time. A fault on an empty place does nothing. */
interface AtPlace {
  readonly atMs: number;
  readonly place: number;
}

/** The server ends, and another begins after `downForMs`. */
interface ServerRestart {
  readonly atMs: number;
  readonly downForMs: number;
  /** Whether the connections end at once. Otherwise nothing arrives any more. */
  readonly isNoticed: boolean;
}

/** A fault. Without a `place` it hits all processes, or the store. */
export type Fault =
  | (AtPlace & Restart & { readonly kind: 'kill' })
  /** The process dies the next time that it reaches this step. */
  | (AtPlace & Restart & { readonly kind: 'crash'; readonly step: Step })
  /** The process ends by an uncaught exception. Its heartbeat thread, if it has one, ends its sessions meanwhile. */
  | (AtPlace & Restart & { readonly kind: 'exit' })
  | (AtPlace & Restart & { readonly kind: 'stop' })
  /** The process is halted: see `Standstill`. */
  | (AtPlace & { readonly kind: 'pause' | 'suspend' | 'freeze'; readonly forMs: number })
  /** The event loop of its main thread is blocked. A heartbeat thread continues. */
  | (AtPlace & { readonly kind: 'block'; readonly forMs: number })
  | (AtPlace & { readonly kind: 'clock-step'; readonly byMs: number })
  /** The process unregisters a job, and registers it again after `forMs`. It keeps its other jobs, and so its sessions. */
  | (AtPlace & { readonly kind: 'unregister'; readonly job: JobName; readonly forMs: number })
  /** The process pauses a job on all replicas. After `forMs` it is resumed, twice in a row. */
  | (AtPlace & { readonly kind: 'pause-job'; readonly job: JobName; readonly forMs: number })
  /** The process steps down from every job that it leads. */
  | (AtPlace & { readonly kind: 'step-down' })
  /** A connection ends, and is opened again at once. */
  | (AtPlace & { readonly kind: 'cut'; readonly which: 'requests' | 'subscription' | 'both' })
  | (AtPlace & { readonly kind: 'network'; readonly conditions: NetworkConditions; readonly forMs: number })
  | {
      readonly atMs: number;
      readonly kind: 'network-for-all';
      readonly conditions: NetworkConditions;
      readonly forMs: number;
    }
  /** The wall clock of the store is set. */
  | { readonly atMs: number; readonly kind: 'store-clock-step'; readonly byMs: number }
  /** The store accepts requests and does not carry them out. */
  | { readonly atMs: number; readonly kind: 'store-hangs'; readonly forMs: number }
  /** The store answers a kind of request with an error: its memory is full, or a permission is missing. */
  | { readonly atMs: number; readonly kind: 'store-refuses'; readonly request: Request; readonly forMs: number }
  /** The store starts again with all its data, or with none. */
  | (ServerRestart & { readonly kind: 'restart' | 'restart-empty' })
  /**
   * All writes from now on are lost after `forMs`. Then the store starts again from its last snapshot, or a replica without these
   * writes replaces it.
   */
  | (ServerRestart & { readonly kind: 'restart-older'; readonly forMs: number })
  /** One node of a cluster fails over, and loses all writes of the last `lostMs`. 0: none. Infinity: everything. */
  | {
      readonly atMs: number;
      readonly kind: 'node-failover';
      readonly node: 'locks' | 'sessions';
      readonly lostMs: number;
      readonly downForMs: number;
    }
  | { readonly atMs: number; readonly kind: 'flush-all' }
  /** The list of sessions is deleted. */
  | { readonly atMs: number; readonly kind: 'sessions-deleted' }
  /** One of the two keys of a job is deleted. */
  | { readonly atMs: number; readonly kind: 'lock-deleted' | 'state-deleted'; readonly job: JobName };

/** By how much the clock of the store is set back, all in all. */
export function setBackMs(faults: readonly Fault[]): number {
  return faults.reduce((sum, fault) => sum + (fault.kind === 'store-clock-step' ? Math.max(-fault.byMs, 0) : 0), 0);
}

/** One line for a person. */
export function faultInWords(fault: Fault): string {
  const who = 'place' in fault ? `place ${fault.place}` : 'all';
  return `${String(Math.round(fault.atMs)).padStart(7)} ${fault.kind} ${who} ${detail(fault)}`.trimEnd();
}

function detail(fault: Fault): string {
  switch (fault.kind) {
    case 'kill':
    case 'exit':
    case 'stop':
      return `back after ${inWords(fault)}`;
    case 'crash':
      return `at the next '${fault.step}', back after ${inWords(fault)}`;
    case 'step-down':
      return 'from all jobs';
    case 'unregister':
    case 'pause-job':
      return `${fault.job} for ${Math.round(fault.forMs)} ms`;
    case 'cut':
      return fault.which;
    case 'clock-step':
    case 'store-clock-step':
      return `by ${Math.round(fault.byMs)} ms`;
    case 'network':
    case 'network-for-all':
      return `${conditionsInWords(fault.conditions)} for ${Math.round(fault.forMs)} ms`;
    case 'restart':
    case 'restart-empty':
      return restartInWords(fault);
    case 'restart-older':
      return `loses all of ${Math.round(fault.forMs)} ms, ${restartInWords(fault)}`;
    case 'node-failover':
      return `of the ${fault.node}, loses all of ${Math.round(fault.lostMs)} ms, back after ${Math.round(fault.downForMs)} ms`;
    case 'store-refuses':
      return `'${fault.request}' for ${Math.round(fault.forMs)} ms`;
    case 'lock-deleted':
    case 'state-deleted':
      return `of ${fault.job}`;
    case 'pause':
    case 'suspend':
    case 'freeze':
    case 'block':
    case 'store-hangs':
      return `for ${Math.round(fault.forMs)} ms`;
    case 'flush-all':
    case 'sessions-deleted':
      return '';
  }
}

function inWords({ downForMs, clock }: Restart): string {
  if (downForMs === Infinity) return 'never';
  return `${Math.round(downForMs)} ms with its clock ${clockInWords(clock)}`;
}

function restartInWords({ downForMs, isNoticed }: ServerRestart): string {
  return `back after ${Math.round(downForMs)} ms${isNoticed ? '' : ', connections go silent'}`;
}

/** The settings of the replicas, in a few lines. */
export function settingInWords({ setting, clocks }: Plan): string {
  const settings = Object.entries(setting).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return [settings.join(', '), ...clocks.map((clock, place) => `place ${place}: ${clockInWords(clock)}`)].join('\n');
}

function clockInWords({ aheadMs, rate }: ClockFaults): string {
  return `${Math.round(aheadMs)} ms ahead at a rate of ${rate.toFixed(4)}`;
}
