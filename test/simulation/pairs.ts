import { type Fault, FATES, type Story } from './story.js';
import { restart, story } from './written-story.js';

const JOB = { kind: 'cron', periodMs: 2_000, runMs: 50, longRunMs: 1_500 } as const;
const NAME = 'j0';
/** The first replica leads. */
const LEADER = { place: 0 };
const FOLLOWER = { place: 1 };

/** Each fault, with two settings at most, at a moment. */
const FAULTS: readonly ((at: number) => Fault)[] = [
  ...(['kept', 'copy', 'none', 'old', 'rolled-back'] as const).map(
    (data) => (at: number) => restart(at, 300, 200, { data }),
  ),
  (at) => restart(at, 5_000, 4_000, { refuses: false }),
  (at) => ({ at, kind: 'flush' }),
  (at) => ({ at, kind: 'lose-leases' }),
  (at) => ({ at, kind: 'lose-record', name: NAME }),
  (at) => ({ at, kind: 'corrupt', name: NAME, ms: 4_000 }),
  ...[-70_000, -1_500, 1_500, 70_000].map((byMs) => (at: number) => ({ at, kind: 'jump', byMs }) as const),
  ...[300, 8_000].map((ms) => (at: number) => ({ at, kind: 'stall', ms }) as const),
  ...FATES.map(
    (fate) => (at: number) => ({ at, kind: 'noise', ms: 3_500, share: 1, place: 0, only: undefined, fate }) as const,
  ),
  (at) => ({ at, kind: 'hints', ms: 12_000, share: 1, place: undefined }),
  (at) => ({ at, kind: 'deaf', ms: 12_000, ...FOLLOWER }),
  ...[true, false].map(
    (isLoud) => (at: number) => ({ at, kind: 'cut', ms: 11_000, isThreadCut: true, isLoud, ...LEADER }) as const,
  ),
  ...(['block', 'freeze', 'suspend'] as const).flatMap((kind) =>
    [1_000, 12_000].map((ms) => (at: number) => ({ at, kind, ms, ...LEADER }) as const),
  ),
  ...[-20_000, 20_000].map((byMs) => (at: number) => ({ at, kind: 'wall', byMs, ...LEADER }) as const),
  ...(['kill', 'crash', 'stop'] as const).flatMap((kind) =>
    [100, 20_000].map((backMs) => (at: number) => ({ at, kind, backMs, ...LEADER }) as const),
  ),
  (at) => ({ at, kind: 'start', backMs: 0, ...FOLLOWER }),
  (at) => ({ at, kind: 'remove', name: NAME, backMs: 2_000, ...LEADER }),
  ...(['resume', 'stepDown', 'trigger'] as const).map(
    (kind) => (at: number) => ({ at, kind, name: NAME, ...FOLLOWER }) as const,
  ),
  ...[2_000, undefined].map(
    (untilMs) => (at: number) => ({ at, kind: 'pause', name: NAME, untilMs, ...FOLLOWER }) as const,
  ),
  ...[2_000, undefined].map((untilMs) => (at: number) => ({ at, kind: 'pauseAll', untilMs, ...FOLLOWER }) as const),
  (at) => ({ at, kind: 'resumeAll', ...FOLLOWER }),
  (at) => ({ at, kind: 'script', name: NAME, command: 'trigger', untilMs: undefined }),
  (at) => ({ at, kind: 'lock', waitMs: 5_000, holdMs: 3_000, ...FOLLOWER }),
  (at) => ({ at, kind: 'give-back', name: NAME, ...LEADER }),
];

/** The first one happens so long after a heartbeat of the leader, and the second one so long after the first. */
const MOMENTS = [0, 0.5, 1.5, 700, 2_990].flatMap((after) =>
  [0, 1, 20, 400, 3_000, 10_500].map((gap) => [after, gap] as const),
);
/** A heartbeat of the first replica leaves then: one each 3 s. */
const HEARTBEAT_AT = 21_000;
/** A month plays all. */
const DAYS = 31;

export const PAIRS = FAULTS.length ** 2 * MOMENTS.length;

/** Those of a day of the month. */
export function pairsOf(day: number): readonly number[] {
  return Array.from({ length: PAIRS }, (_, index) => index).filter((index) => index % DAYS === day % DAYS);
}

/** Two replicas and one cron job, with two faults. */
export function pairOf(index: number): Story {
  const [after, gap] = MOMENTS[index % MOMENTS.length] ?? [0, 0];
  const rest = Math.floor(index / MOMENTS.length);
  const [first, second] = [FAULTS[rest % FAULTS.length], FAULTS[Math.floor(rest / FAULTS.length)]];
  const at = HEARTBEAT_AT + after;
  const faults = [first?.(at), second?.(at + gap)].filter((fault) => fault !== undefined);
  return story({ jobs: [JOB], faults });
}
