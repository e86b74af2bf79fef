import { type JobEvents } from '../../libs/singleton-job/src/index.js';

/** What a value looks like after its way through the channel between two processes. */
type Sent<T> = T extends Date ? string : T extends object ? { readonly [K in keyof T]: Sent<T[K]> } : T;

/** An event of the library. */
type Told = { [E in keyof JobEvents]: { readonly event: E; readonly payload: Sent<JobEvents[E]> } }[keyof JobEvents];

/** What happened to a process as a whole. */
type ProcessNews =
  | { readonly event: 'processStarted' }
  | { readonly event: 'processReady' }
  /** It is sent a SIGTERM. */
  | { readonly event: 'processStopping' }
  /** It is sent a SIGKILL. */
  | { readonly event: 'processKilled' }
  /** Whatever it had still to say was said before. */
  | { readonly event: 'processEnded'; readonly code: number | null; readonly signal: string | null };

interface Place {
  readonly replica: string;
  readonly pid: number;
  /** Wall clock; all processes share one machine, so that their times can be compared. */
  readonly atMs: number;
}

/** Something that happened on stage. Facts of one process come in order; those of several may arrive slightly mixed. */
export type Fact = Place & (ProcessNews | Told);

/** A message of a worker as a fact; undefined for one that is none. */
export function parseMessage(message: unknown, { replica, pid }: Omit<Place, 'atMs'>): Fact | undefined {
  if (typeof message !== 'object' || message === null || !('event' in message)) return undefined;
  if (!('payload' in message && 'atMs' in message) || typeof message.atMs !== 'number') return undefined;
  if (message.event === 'ready') return { replica, pid, atMs: Date.now(), event: 'processReady' };
  // the worker forwards the library's own events; which of them it forwards is its own type check
  const told = { event: message.event, payload: message.payload } as Told;
  return { ...told, replica, pid, atMs: message.atMs };
}

export function inOrder(facts: readonly Fact[]): Fact[] {
  return facts.toSorted((one, other) => one.atMs - other.atMs);
}

/** What to do with some of the facts; the others pass. */
export type Handlers = { readonly [E in Fact['event']]?: (fact: Extract<Fact, { event: E }>) => void };

export function dispatch(fact: Fact, handlers: Handlers): void {
  const handle = handlers[fact.event] as ((fact: Fact) => void) | undefined;
  handle?.(fact);
}
