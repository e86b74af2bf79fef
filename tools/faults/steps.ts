import {
  type WitnessedProcess,
  type WitnessedRefusal,
  type WitnessedSight,
  type WitnessedStep,
} from '../../test/support/checker.js';
import { type Testimony } from './testimony.js';
import { type Exchange, isYes } from './wires.js';

/** What each script did, as far as its answer says, in the order of the answers; one without an answer may have done nothing. */
export function stepsIn(exchanges: readonly Exchange[]): WitnessedStep[] {
  const ofHolders = new Map<string, Exchange[]>();
  for (const exchange of exchanges) {
    const key = `${exchange.job} ${exchange.holder}`;
    const known = ofHolders.get(key);
    if (known === undefined) ofHolders.set(key, [exchange]);
    else known.push(exchange);
  }
  return [...ofHolders.values()]
    .flatMap((own) => own.map((exchange) => stepIn(exchange, own)))
    .sort((one, other) => one.atMs - other.atMs);
}

/** `own` is all that its holder asked for. */
function stepIn(exchange: Exchange, own: readonly Exchange[]): WitnessedStep {
  const { command, job, holder, process, sentMs, answeredMs = sentMs, words: [said, what = ''] = [] } = exchange;
  const step = { command, job, process, holder, sentMs, atMs: answeredMs };
  switch (isYes(exchange)) {
    case undefined:
      return step;
    case false:
      return command === 'acquire' ? { ...step, before: what, after: what } : step;
    case true:
      if (command === 'acquire') return { ...step, after: holder };
      if (command === 'release') return { ...step, before: holder };
      return {
        ...step,
        ...(!isFreed(exchange, own) && { before: holder }),
        after: holder,
        ...((said === 'claimed' || said === 'mine') && { claimed: Number(what) }),
      };
  }
}

/** Whether the lock of this holder was given back for certain before it asked, and no bid can have taken it again since. */
function isFreed({ sentMs }: Exchange, own: readonly Exchange[]): boolean {
  const isBefore = ({ answeredMs = Infinity }: Exchange): boolean => answeredMs < sentMs;
  const freedMs = own.find(
    (other) => other.command === 'release' && isYes(other) === true && isBefore(other),
  )?.answeredMs;
  if (freedMs === undefined) return false;
  return !own.some(({ command, answeredMs = Infinity }) => command === 'acquire' && answeredMs > freedMs);
}

/** Where the newest occurrence that is claimed stands in an answer, and when the state began. */
const LAST = { granted: 2, refused: 4, claim: 1 };
const BORN = 6;

/** Which occurrences processes have read to be claimed. */
export function sightsIn(exchanges: readonly Exchange[]): WitnessedSight[] {
  const seen = new Map<string, number>();
  return exchanges.flatMap((exchange) => {
    const { command, job, process, readMs, words } = exchange;
    if (readMs === undefined || words === undefined || (command !== 'acquire' && command !== 'claim')) return [];
    const where = command === 'claim' ? LAST.claim : isYes(exchange) === true ? LAST.granted : LAST.refused;
    const last = Number(words[where]);
    const key = `${process} ${job}`;
    if (last <= (seen.get(key) ?? 0)) return [];
    seen.set(key, last);
    return [{ job, process, last, atMs: readMs }];
  });
}

/** Which bids processes have read to be refused, because somebody else holds the lock. */
export function refusalsIn(exchanges: readonly Exchange[]): WitnessedRefusal[] {
  return exchanges.flatMap((exchange) => {
    const { command, job, process, holder, readMs, words: [, by = ''] = [] } = exchange;
    const isOfAnother = command === 'acquire' && isYes(exchange) === false && by.split('-')[0] !== process;
    return isOfAnother && readMs !== undefined ? [{ job, process, holder, by, atMs: readMs }] : [];
  });
}

/** When processes began, and when each first read of the state of a job. */
export function processesIn(record: readonly Testimony[], exchanges: readonly Exchange[]): WitnessedProcess[] {
  const met = new Map<string, Map<string, number>>();
  for (const { command, job, process, readMs, words } of exchanges) {
    if (command !== 'acquire' || readMs === undefined || Number(words?.[BORN] ?? 0) === 0) continue;
    const known = met.get(process) ?? new Map<string, number>();
    met.set(process, known.set(job, Math.min(readMs, known.get(job) ?? Infinity)));
  }
  return record
    .filter(({ event }) => event === 'spawned')
    .map(({ replica, atMs }) => ({ process: replica, startedMs: atMs, metMs: met.get(replica) ?? new Map() }));
}
