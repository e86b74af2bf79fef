import { setTimeout as delay } from 'node:timers/promises';
import { check, type Violation } from '../../test/support/checker.js';
import { Chance } from '../../test/simulation/chance.js';
import { type Episode, judge, type Outcome } from './episode.js';
import { type Fault, NothingHappened } from './fault.js';
import { Fleet } from './fleet.js';
import { historyOf } from './history.js';
import { monotonicMs } from './monotonic.js';
import { inLines, inOneLine, type Testimony } from './testimony.js';

/** What strikes next, and for how long all is calm before. */
export interface Act {
  readonly faults: readonly Fault[];
  readonly pauseMs: number;
}

export type Told = Episode & Outcome;

/** A fleet from its start to its stop. */
export interface Story {
  readonly seed: number;
  readonly episodes: readonly Told[];
  readonly runs: number;
  /** Broken promises, of the whole. */
  readonly violations: readonly Violation[];
  /** What replicas said or did that no fault may cause, in words. */
  readonly unexpected: readonly string[];
  /** The episodes in which a job was not led, or did not run, for longer than promised, with their part of the record. */
  readonly tooSlow: readonly string[];
}

export interface StoryOptions {
  /** The compiled replica. */
  readonly main: string;
  readonly seed: number;
  readonly onAct?: (act: Act) => void;
}

/** What came due in the last moments is settled in this time. */
const LAST_WORDS_MS = 1_200;

/** Plays one act after the other on one fleet, and checks all that the witness wrote down. */
export async function play(acts: Iterable<Act>, { main, seed, onAct }: StoryOptions): Promise<Story> {
  await using fleet = await Fleet.start(main);
  const episodes: Episode[] = [];
  try {
    for (const act of acts) {
      onAct?.(act);
      await delay(act.pauseMs);
      await fleet.led();
      episodes.push(await strike(fleet, act.faults, (use) => Chance.of(seed, `${use} ${String(episodes.length)}`)));
    }
    await delay(LAST_WORDS_MS);
    await Promise.all(fleet.slots.map(({ replica }) => replica.terminate()));
  } catch (error: unknown) {
    throw unfinished(fleet, seed, error as Error);
  }
  return retell(fleet, seed, episodes);
}

/** A story that came to no end may have broken promises all the same. */
function unfinished({ witness, wires }: Fleet, seed: number, cause: Error): Error {
  const violations = check(historyOf(witness, wires)).map(inWords);
  return new Error([`seed ${String(seed)}: ${cause.message}`, ...violations].join('\n'), { cause });
}

async function strike(fleet: Fleet, faults: readonly Fault[], chanceOf: (use: string) => Chance): Promise<Episode> {
  const fromMs = monotonicMs();
  let sinceMs = fromMs;
  const since = (): void => {
    sinceMs = monotonicMs();
  };
  fleet.witness.note('fault', '', { reason: namesOf(faults) });
  const strikes = faults.map((fault) => fault.strike({ fleet, since, chance: chanceOf(fault.name) }));
  await allOf(strikes);
  fleet.witness.note('healed');
  // two faults at once: the bound counts from the end of both
  if (faults.length > 1) since();
  await fleet.calm();
  return { faults, fromMs, sinceMs, epochMs: fleet.witness.epochMs, calmMs: monotonicMs() };
}

/** Waits until all have ended. Of two faults at once, one may have left nothing for the other to harm. */
async function allOf(strikes: readonly Promise<void>[]): Promise<void> {
  const ends = await Promise.allSettled(strikes);
  const failures = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason as Error);
  const [serious] = failures.filter((failure) => !(failure instanceof NothingHappened));
  if (serious !== undefined) throw serious;
  const [failure] = failures;
  if (failure !== undefined && failures.length === ends.length) throw failure;
}

function retell({ witness, wires }: Fleet, seed: number, episodes: readonly Episode[]): Story {
  const { record, startedMs } = witness;
  const history = historyOf(witness, wires);
  const told = episodes.map((episode) => ({ ...episode, ...judge(episode, record, history) }));
  const unexpected = record.filter((testimony) => isUnexpected(record, testimony));
  const slow = told.filter(({ leaderlessMs, idleMs, bound }) => Math.max(leaderlessMs, idleMs) > bound.ms);
  return {
    seed,
    episodes: told,
    runs: history.runs.length,
    violations: check(history),
    unexpected: unexpected.map((testimony) => inOneLine(testimony, startedMs)),
    tooSlow: slow.map((episode) => whySlow(record, episode, startedMs)),
  };
}

export function namesOf(faults: readonly Fault[]): string {
  return faults.map(({ name }) => name).join(' + ');
}

export function inWords({ rule, evidence }: Violation): string {
  return `${rule}:\n${evidence}`;
}

function isUnexpected(record: readonly Testimony[], { event, replica }: Testimony): boolean {
  if (event === 'broke') return true;
  const wasAsked = (testimony: Testimony): boolean =>
    testimony.replica === replica && (testimony.event === 'killed' || testimony.event === 'terminated');
  return event === 'exited' && !record.some(wasAsked);
}

/** An episode that took too long, with its part of the record. */
function whySlow(record: readonly Testimony[], episode: Told, startedMs: number): string {
  const { faults, fromMs, calmMs, leaderlessMs, idleMs, bound } = episode;
  const during = record.filter(({ atMs }) => atMs >= fromMs && atMs <= calmMs);
  const times = `${String(Math.round(leaderlessMs))} ms without a leader, ${String(Math.round(idleMs))} without a run`;
  return [`${namesOf(faults)}: ${times}, bound ${bound.formula}`, ...inLines(during, startedMs)].join('\n');
}
