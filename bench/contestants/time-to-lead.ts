/** What the store has of a job. */
export interface StoredJob {
  /** The time of the store at the last write, in milliseconds since the epoch. */
  readonly revision: number;
  /** JSON. */
  readonly value: string;
}

/** Replicas and their server, real or simulated. */
export interface Fleet {
  readonly jobs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Rejects while the server is down. */
  readonly stored: () => Promise<readonly StoredJob[]>;
  /** Ends a replica as a crash does. */
  readonly kill: (node: string) => unknown;
  /** Starts a replica. */
  readonly add: () => unknown;
  /** Restarts the server, which keeps its data. */
  readonly restart: () => Promise<unknown>;
}

const POLL_MS = 50;
const LIMIT_MS = 60_000;
const HEARTBEAT_MS = 3_000;

/** How long until all jobs are led: by the store, from when the cause begins to the last write that is needed. */
export async function timesToLead(fleet: Fleet, coldMs: number, repeats: number): Promise<Record<string, number[]>> {
  const several = async (once: (fleet: Fleet) => Promise<number>): Promise<number[]> => {
    const found: number[] = [];
    while (found.length < repeats) found.push(await once(fleet));
    return found;
  };
  return {
    'cold start to all led, ms': [coldMs],
    'kill to all led, ms': await several(afterKill),
    'restart to all led, ms': await several(afterRestart),
  };
}

/** `isNew`: a job was written since `fromMs`, by a leader. */
export async function untilLed(fleet: Fleet, fromMs: number, isNew = isLed): Promise<number> {
  while (fleet.now() < fromMs + LIMIT_MS) {
    const stored = await fleet.stored().catch(() => []);
    if (stored.length === fleet.jobs && stored.every((job) => isLed(job) && isNew(job)))
      return Math.max(fromMs, ...stored.map(({ revision }) => revision)) - fromMs;
    await fleet.sleep(POLL_MS);
  }
  throw new Error(`${fleet.jobs} jobs were not led within ${LIMIT_MS} ms`);
}

/** The leader of most jobs ends, at a random moment between two heartbeats, and another replica starts after that. */
async function afterKill(fleet: Fleet): Promise<number> {
  await fleet.sleep(HEARTBEAT_MS * Math.random());
  const leader = await leaderIn(fleet);
  // a kill of no replica would be followed at once
  if (leader === '') throw new Error('no replica leads most jobs');
  const fromMs = fleet.now();
  await fleet.kill(leader);
  const ms = await untilLed(fleet, fromMs, (job) => leaderOf(job) !== leader);
  await fleet.add();
  return ms;
}

/** The leaders go on in their terms: they write their jobs for the new incarnation. */
async function afterRestart(fleet: Fleet): Promise<number> {
  const before = new Set((await fleet.stored()).map(incarnationOf));
  const fromMs = fleet.now();
  await fleet.restart();
  return untilLed(fleet, fromMs, (job) => !before.has(incarnationOf(job)));
}

/** The replica that leads most jobs. */
export async function leaderIn(fleet: Fleet): Promise<string> {
  const leaders = (await fleet.stored()).map(leaderOf);
  const led = (leader: string): number => leaders.filter((one) => one === leader).length;
  return [...new Set(leaders)].toSorted((a, b) => led(b) - led(a))[0] ?? '';
}

const leaderOf = ({ value }: StoredJob): string => /"holder":"(r\d+)/.exec(value)?.[1] ?? '';
const incarnationOf = ({ value }: StoredJob): string | undefined => /"incarnation":"([^"]+)/.exec(value)?.[1];
const isLed = (job: StoredJob): boolean => leaderOf(job) !== '';
