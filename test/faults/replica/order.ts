/** What the test tells a replica when it starts it, in the variable `REPLICA`. */
export interface ReplicaOrder {
  readonly name: string;
  readonly project: string;
  readonly redisUrl: string;
  readonly heartbeatIntervalMs: number;
  readonly lockExpiryMs: number;
  readonly shutdownTimeoutMs: number;
  readonly wallAheadMs: number;
}

/** What the test tells a running replica. */
export type ReplicaCommand =
  { readonly command: 'block'; readonly forMs: number } | { readonly command: 'step'; readonly byMs: number };

/** The jobs of a replica. Those of {@link CRON_JOBS} have occurrences; the others only ticks. */
export const JOBS = ['grid', 'pause', 'cron', 'long-cron', 'obedient', 'stubborn'] as const;
export const CRON_JOBS = { cron: '* * * * * *', 'long-cron': '*/2 * * * * *' } as const;
export const GRID_PERIOD_MS = 500;

export function readOrder(): ReplicaOrder {
  return JSON.parse(process.env['REPLICA'] ?? '') as ReplicaOrder;
}
