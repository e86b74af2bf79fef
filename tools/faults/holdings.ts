import { lossesOf, type Open, type WitnessedFault, type WitnessedHolding } from '../../test/support/checker.js';
import { LOCK_EXPIRY_MS } from './settings.js';
import { type Exchange, isYes } from './wires.js';

type Answered = Exchange & { readonly answeredMs: number };

/**
 * Who held each lock, by what Redis answered, whether or not a replica came to read it. Redis had done it when the answer came
 * by, and not before the request did: a lock is taken to be held for as long as it may have been by that. It ends where it
 * is certain to have ended: with the time that the last yes gave it, a release, a no, a grant to another, or a loss.
 */
export function holdingsIn(
  exchanges: readonly Exchange[],
  troubles: readonly WitnessedFault[],
): readonly WitnessedHolding[] {
  const holdings: Open<WitnessedHolding>[] = [];
  const jobs = [...new Set(exchanges.map(({ job }) => job))];
  const losses = new Map(jobs.map((job) => [job, lossesOf({ faults: troubles }, 'lock', job).map(({ atMs }) => atMs)]));
  const happenings = [
    ...[...losses].flatMap(([job, moments]) =>
      moments.map((atMs) => ({
        atMs,
        happen: () => {
          for (const held of holdings) if (held.job === job) end(held, atMs);
        },
      })),
    ),
    ...exchanges.filter(isAnswered).map((exchange) => ({
      atMs: exchange.answeredMs,
      happen: () => {
        hear(exchange, holdings, losses.get(exchange.job) ?? []);
      },
    })),
  ];
  for (const { happen } of happenings.sort((one, other) => one.atMs - other.atMs)) happen();
  return holdings;
}

function hear(exchange: Answered, holdings: Open<WitnessedHolding>[], lostMs: readonly number[]): void {
  const { command, job, holder, sentMs, answeredMs, words: [, token] = [] } = exchange;
  const held = holdings.findLast((other) => other.job === job && other.holder === holder);
  const says = isYes(exchange);
  if (says === undefined) return;
  if (!says || command === 'release') {
    if (held !== undefined) end(held, answeredMs);
  } else if (command === 'acquire' && held?.fencingToken !== Number(token)) {
    grant(exchange, holdings);
  } else if (held !== undefined) {
    // what was confirmed before a loss tells nothing of after it
    const isOfBefore = lostMs.some((atMs) => sentMs < atMs && atMs <= answeredMs);
    if (!isOfBefore) held.untilMs = answeredMs + LOCK_EXPIRY_MS;
  }
}

/** Of two bids that were under way at once the answers may come by in another order than the grants: then the tokens tell it. */
function grant(exchange: Answered, holdings: Open<WitnessedHolding>[]): void {
  const { job, process, holder, sentMs, answeredMs, words: [, token] = [] } = exchange;
  const fencingToken = Number(token);
  const isBefore = ({ fromMs, fencingToken: other = 0 }: WitnessedHolding): boolean =>
    fromMs <= sentMs || other < fencingToken;
  const before = holdings.findLastIndex((other) => other.job === job && isBefore(other));
  const untilMs = answeredMs + LOCK_EXPIRY_MS;
  holdings.splice(before + 1, 0, { job, process, holder, fencingToken, sentMs, fromMs: answeredMs, untilMs });
  const ofJob = holdings.filter((other) => other.job === job);
  for (const over of ofJob.slice(0, -1)) end(over, answeredMs);
}

function end(held: Open<WitnessedHolding>, atMs: number): void {
  held.untilMs = Math.min(held.untilMs, atMs);
}

function isAnswered(exchange: Exchange): exchange is Answered {
  return exchange.answeredMs !== undefined;
}
