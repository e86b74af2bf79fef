import { setTimeout as delay } from 'node:timers/promises';
import { JOBS, REPLICAS, VICTIM } from './cast.js';
import { type Chronicle } from './chronicle.js';
import { type Fact } from './facts.js';
import { type Replica } from './replica.js';
import { type Stage } from './stage.js';

/** An act lasts at least this long, so that there is something to see. */
const ACT_MS = 3_000;

export interface Theatre {
  readonly stage: Stage;
  readonly chronicle: Chronicle;
  readonly announce: (title: string) => void;
  /** Ends the show at once, wherever it is; it rejects then. */
  readonly signal: AbortSignal;
}

/** Three replicas; the leader is stopped; the next one is killed. Resolves when every job runs on its last leader. */
export async function perform(theatre: Theatre): Promise<void> {
  const { stage, announce } = theatre;
  announce('1  Three replicas start: one of them leads each job, the others follow');
  stage.startAll();
  await allReady(theatre);
  await allRunning(theatre);

  // a dropped tick tells that a slow run is in flight: the very moment at which a careless stop would do harm
  const first = leaderIn(theatre, await next(theatre, 'tickDropped'));
  announce(`2  ${first.name} is stopped in the middle of a slow run: it ends the run, then hands over`);
  first.stop();
  await gone(theatre, first);
  await allRunning(theatre);

  const second = leaderIn(theatre, await next(theatre, 'runStarted'));
  announce(`3  ${second.name} is killed in the middle of a run: when its session has ended, others lead`);
  second.kill();
  await gone(theatre, second);
  await allRunning(theatre);
}

/** @throws Error if a replica ends before it is ready: nothing more would happen then */
async function allReady({ chronicle, signal }: Theatre): Promise<void> {
  const of = (event: Fact['event']): Fact[] => chronicle.facts.filter((fact) => fact.event === event);
  const isOver = (): boolean => of('processReady').length === REPLICAS.length || of('processEnded').length > 0;
  await chronicle.until(isOver, signal);
  const [early] = of('processEnded');
  if (early !== undefined) throw new Error(`replica ${early.replica} ended at its start`);
}

/** Every job has had a run on its leader of today. */
async function allRunning({ chronicle, signal }: Theatre): Promise<void> {
  const allRun = chronicle.until((facts) => JOBS.every(({ name }) => runsOnItsLeader(facts, name)), signal);
  await Promise.all([allRun, delay(ACT_MS, undefined, { signal })]);
}

function runsOnItsLeader(facts: readonly Fact[], job: string): boolean {
  const gained = facts.findLast((fact) => fact.event === 'leadershipGained' && fact.payload.job === job);
  if (gained?.event !== 'leadershipGained') return false;
  const { fencingToken } = gained.payload;
  const hasEnded = facts.some(({ event, pid }) => event === 'processEnded' && pid === gained.pid);
  const runs = facts.filter((fact) => fact.event === 'runStarted').map(({ payload }) => payload);
  return !hasEnded && runs.some((run) => run.job === job && run.fencingToken === fencingToken);
}

/** Resolves when `replica` has ended. */
export async function gone({ chronicle, signal }: Theatre, { pid }: Replica): Promise<void> {
  const isItsEnd = (fact: Fact): boolean => fact.event === 'processEnded' && fact.pid === pid;
  if (!chronicle.facts.some(isItsEnd)) await chronicle.next(isItsEnd, signal);
}

function next({ chronicle, signal }: Theatre, event: 'tickDropped' | 'runStarted'): Promise<Fact> {
  return chronicle.next((fact) => fact.event === event && fact.payload.job === VICTIM, signal);
}

function leaderIn({ stage }: Theatre, { replica: name }: Fact): Replica {
  const replica = stage.find(name);
  if (replica === undefined) throw new Error(`${name} is not one of ${REPLICAS.join(', ')}`);
  return replica;
}
