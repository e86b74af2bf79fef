import { type BenchEvent } from './events.js';

/** A time in which the process of a replica was stopped. It did nothing then. */
export interface Freeze {
  readonly node: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** What the functions below judge. */
export interface History {
  readonly events: readonly BenchEvent[];
  /** When replicas were killed. Their runs and terms ended then. */
  readonly deaths: ReadonlyMap<string, number>;
  readonly freezes: readonly Freeze[];
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A run or a term. */
interface JobSpan extends Span {
  readonly job: string;
  readonly node: string;
}

export interface Overlaps {
  /** Pairs of two replicas. */
  readonly count: number;
  readonly longestMs: number;
}

/** Runs of one job that two replicas executed at the same time. A run that has not ended still goes on. */
export function overlappingRuns(history: History): Overlaps {
  const ends = new Map<string, number>();
  for (const event of history.events) if (event.type === 'ended') ends.set(`${event.node} ${event.run}`, event.atMs);
  const runs = history.events.flatMap((event) => {
    if (event.type !== 'started') return [];
    return [spanFrom(event, ends.get(`${event.node} ${event.run}`), history.deaths)];
  });
  return overlapsAmong(runs, history.freezes);
}

/** Terms of one job that two replicas had at the same time, as far as they knew. */
export function overlappingTerms(history: History): Overlaps {
  const ends = new Map<string, number>();
  for (const event of history.events) {
    if (event.type !== 'lost' && event.type !== 'released') continue;
    ends.set(`${event.node} ${event.job} ${event.token}`, event.atMs);
  }
  const terms = history.events.flatMap((event) => {
    if (event.type !== 'gained') return [];
    return [spanFrom(event, ends.get(`${event.node} ${event.job} ${event.token}`), history.deaths)];
  });
  return overlapsAmong(terms, history.freezes);
}

/**
 * Accounts for the occurrences of a cron job that is due every second, from the first to the last one that was started.
 * `twice`: started more than once. `lost`: neither started nor reported as dropped or missed.
 */
export function accountForSeconds({ events }: History, job: string): { readonly twice: number; readonly lost: number } {
  const starts = new Map<number, number>();
  const reported = new Set<number>();
  for (const event of events) {
    if (!('job' in event) || event.job !== job) continue;
    if (event.type === 'started') starts.set(event.scheduledAt, (starts.get(event.scheduledAt) ?? 0) + 1);
    if (event.type === 'dropped') {
      for (let i = 0; i < event.count; i++) reported.add(event.scheduledAt - i * 1_000);
    }
    if (event.type === 'missed') {
      for (let at = Math.floor(event.to / 1_000) * 1_000; at > event.from; at -= 1_000) reported.add(at);
    }
  }
  const started = [...starts.keys()];
  let lost = 0;
  for (let at = Math.min(...started); at < Math.max(...started); at += 1_000) {
    if (!starts.has(at) && !reported.has(at)) lost++;
  }
  return { twice: [...starts.values()].filter((count) => count > 1).length, lost };
}

/** How often a job got another leader than before, since `sinceMs`. */
export function countLeaderChanges({ events }: History, sinceMs: number): number {
  const leaders = new Map<string, string>();
  let changes = 0;
  for (const event of events.toSorted((a, b) => a.atMs - b.atMs)) {
    if (event.type !== 'gained') continue;
    const before = leaders.get(event.job);
    if (event.atMs >= sinceMs && before !== undefined && before !== event.node) changes++;
    leaders.set(event.job, event.node);
  }
  return changes;
}

function spanFrom(
  { job, node, atMs: fromMs }: { readonly job: string; readonly node: string; readonly atMs: number },
  endedAtMs: number | undefined,
  deaths: History['deaths'],
): JobSpan {
  return { job, node, fromMs, toMs: endedAtMs ?? deaths.get(node) ?? Infinity };
}

function overlapsAmong(spans: readonly JobSpan[], freezes: readonly Freeze[]): Overlaps {
  const overlapsMs: number[] = [];
  const open = new Map<string, readonly JobSpan[]>();
  for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const others = (open.get(span.job) ?? []).filter(({ toMs }) => toMs > span.fromMs);
    for (const other of others) {
      if (other.node !== span.node) overlapsMs.push(commonMs(other, span, freezes));
    }
    open.set(span.job, [...others, span]);
  }
  const real = overlapsMs.filter((ms) => ms > 0);
  return { count: real.length, longestMs: Math.max(0, ...real) };
}

function commonMs(first: JobSpan, second: JobSpan, freezes: readonly Freeze[]): number {
  let sum = 0;
  for (const a of activeSpans(first, freezes)) {
    for (const b of activeSpans(second, freezes)) {
      sum += Math.max(0, Math.min(a.toMs, b.toMs) - Math.max(a.fromMs, b.fromMs));
    }
  }
  return sum;
}

/** A run or a term without the times in which its process was stopped. */
function activeSpans(whole: JobSpan, freezes: readonly Freeze[]): Span[] {
  let spans: Span[] = [whole];
  for (const freeze of freezes.filter(({ node }) => node === whole.node)) {
    spans = spans.flatMap(({ fromMs, toMs }) => [
      { fromMs, toMs: Math.min(toMs, freeze.fromMs) },
      { fromMs: Math.max(fromMs, freeze.toMs), toMs },
    ]);
  }
  return spans.filter(({ fromMs, toMs }) => toMs > fromMs);
}
