/** A job or its copies in all replicas. */
export interface JobPlan {
  readonly name: string;
  readonly kind: 'rate' | 'cron' | 'interval';
  /** `lockExpiry`. */
  readonly lifeMs: number;
  /** Period, or delay. */
  readonly periodMs: number;
  /** Most runs take less, and some take `longRunMs`. */
  readonly runMs: number;
  readonly longRunMs: number;
  /** Its runs go on after their term. */
  readonly isStubborn: boolean;
  /** A cron occurrence runs so much later at most. */
  readonly graceMs: number;
}

/** One replica. A process that dies and starts again has the same place. */
export interface PlacePlan {
  readonly startAt: number;
  /** Of its monotonic clock. */
  readonly rate: number;
  /** Of its wall clock. */
  readonly skewMs: number;
  /** A deploy that changes `lockExpiry`: of these jobs it has another one. */
  readonly otherLives: Readonly<Record<string, number>>;
  /** A deploy that adds jobs: it does not have these. */
  readonly without: readonly string[];
}

export interface Setting {
  /** Of everything that the world decides by chance. */
  readonly seed: number;
  readonly places: readonly PlacePlan[];
  readonly jobs: readonly JobPlan[];
  /** `lockExpiry` of the module. */
  readonly lifeMs: number;
  /** The store does not tell which server it is. */
  readonly isHidden: boolean;
  readonly canPublish: boolean;
  /** The requests of a connection arrive in order, and so do the answers. */
  readonly isOrdered: boolean;
  readonly hasThread: boolean;
  /** The store reads records and leases at two moments. */
  readonly isSplit: boolean;
  /** A proxy keeps connections through a restart, and the requests that were under way. */
  readonly hasProxy: boolean;
  /** Of a request and of an answer: at least, at most. */
  readonly delayMs: readonly [number, number];
  readonly storeRate: number;
  readonly timeoutMs: number;
}

export type Fate = 'lost' | 'answer-lost' | 'rejected-before' | 'rejected-after' | 'late' | 'doubled';
export const FATES: readonly Fate[] = ['lost', 'answer-lost', 'rejected-before', 'rejected-after', 'late', 'doubled'];

export type RequestKind = 'sync' | 'compareAndSet';

export type CommandKind = 'pause' | 'resume' | 'trigger' | 'step-down';

/** What happens to one process. `place` -1: any that is well. */
interface OfProcess {
  readonly place: number;
}
interface Lasting {
  readonly ms: number;
}

/** What happens in a story, beside what follows from it. */
export type Fault = { readonly at: number } & (
  | {
      readonly kind: 'restart';
      /** Those of the last server, a copy or snapshot of `ageMs` ago, or none. `old`: the server before the last comes back, as it was. */
      readonly data: 'kept' | 'copy' | 'none' | 'old';
      readonly ageMs: number;
      readonly downMs: number;
      /** Connections are closed at once, and refused meanwhile. Otherwise nothing is heard. */
      readonly refuses: boolean;
      readonly clockMs: number;
    }
  | { readonly kind: 'flush' | 'lose-leases' }
  | { readonly kind: 'lose-record'; readonly name: string }
  /** Nobody can read the record meanwhile. */
  | ({ readonly kind: 'spoil'; readonly name: string } & Lasting)
  | ({ readonly kind: 'jump' | 'stall' } & Lasting)
  | ({
      readonly kind: 'noise';
      readonly share: number;
      readonly place?: number | undefined;
      readonly only?: RequestKind | undefined;
      readonly fate?: Fate;
      readonly lateMs?: number;
    } & Lasting)
  | ({ readonly kind: 'hints'; readonly share: number; readonly place?: number | undefined } & Lasting)
  | ({ readonly kind: 'cut'; readonly isThreadCut: boolean; readonly isLoud: boolean } & OfProcess & Lasting)
  | ({ readonly kind: 'deaf' | 'block' | 'freeze' | 'suspend' | 'wall' } & OfProcess & Lasting)
  | ({ readonly kind: 'kill' | 'crash' | 'stop'; readonly backMs?: number | undefined } & OfProcess)
  | ({ readonly kind: 'start' } & OfProcess)
  | ({ readonly kind: 'remove'; readonly name: string; readonly backMs: number } & OfProcess)
  | ({ readonly kind: CommandKind; readonly name: string } & OfProcess)
  /** A leader steps down by itself. */
  | ({ readonly kind: 'give-back'; readonly name: string } & OfProcess)
  | ({ readonly kind: 'lock'; readonly waitMs: number; readonly holdMs: number; readonly isLast?: true } & OfProcess)
);

export type FaultOf<Kind extends Fault['kind']> = Fault & { readonly kind: Kind };

export interface Story {
  readonly setting: Setting;
  readonly faults: readonly Fault[];
  readonly endMs: number;
}

/** When the cause of a fault is over. Its effects may last longer. */
export function endOf(fault: Fault): number {
  if (fault.kind === 'jump' || fault.kind === 'wall') return fault.at;
  return (
    fault.at +
    (('downMs' in fault ? fault.downMs : 'ms' in fault ? fault.ms : 'backMs' in fault ? fault.backMs : 0) ?? 0)
  );
}
