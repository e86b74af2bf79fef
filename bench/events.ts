/** What a replica process is told to do. It gets this as JSON in the environment variable BENCH_REPLICA. */
export interface ReplicaSettings {
  /** One Nest application context each. The names are unique over the whole measurement. */
  readonly nodes: readonly string[];
  readonly redisPort: number;
  readonly lockExpiry?: string | undefined;
  readonly heartbeatInterval?: string | undefined;
  readonly jobs: readonly JobSpec[];
  /** False: runs are empty and not reported, so that a CPU figure is that of the library alone. */
  readonly recordsRuns: boolean;
}

export interface JobSpec {
  readonly name: string;
  readonly schedule: { readonly period: string } | { readonly delay: string } | { readonly cron: string };
  readonly runMs: number;
}

/** What happens on a replica. All times of schedules are milliseconds since the epoch. */
export type Happening =
  | { readonly type: 'ready' }
  | { readonly type: 'gained' | 'lost' | 'released'; readonly job: string; readonly token: number }
  | {
      readonly type: 'started';
      readonly job: string;
      readonly token: number;
      readonly run: number;
      readonly scheduledAt: number;
    }
  | { readonly type: 'aborted' | 'ended'; readonly job: string; readonly run: number }
  /** `count` ticks, the newest at `scheduledAt`, were reported as dropped. */
  | { readonly type: 'dropped'; readonly job: string; readonly scheduledAt: number; readonly count: number }
  /** The occurrences in (`from`, `to`] were reported as missed. */
  | { readonly type: 'missed'; readonly job: string; readonly from: number; readonly to: number };

/** `atMs` is read from the monotonic clock of the machine, which is the same for all its processes. */
export type BenchEvent = Happening & { readonly node: string; readonly atMs: number };

/** What a replica process sends to the measurement. */
export type ReplicaMessage = BenchEvent | { readonly type: 'cpu'; readonly cpuMs: number };

/** Milliseconds of CLOCK_MONOTONIC. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Jobs of all three kinds. The first one, `probe`, is nearly always in the middle of a run. */
export function mixedJobs(count: number): JobSpec[] {
  return Array.from({ length: count }, (_, i) => {
    if (i === 0) return { name: 'probe', schedule: { period: '250ms' }, runMs: 200 };
    if (i % 5 === 3) return { name: `interval-${i}`, schedule: { delay: '200ms' }, runMs: 200 };
    if (i % 5 === 4) return { name: `cron-${i}`, schedule: { cron: '* * * * * *' }, runMs: 300 };
    return { name: `rate-${i}`, schedule: { period: '500ms' }, runMs: 300 };
  });
}

/** Fixed rates of one second with empty runs: what is measured is the library. */
export function idleJobs(count: number): JobSpec[] {
  return Array.from({ length: count }, (_, i) => ({ name: `job-${i}`, schedule: { period: '1s' }, runMs: 0 }));
}
