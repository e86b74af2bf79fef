import { describe, expect, it } from '@jest/globals';
import {
  check,
  type History,
  type Rule,
  type Settings,
  type WitnessedHolding,
  type WitnessedProcess,
  type WitnessedRun,
  type WitnessedStep,
  type WitnessedTerm,
} from '../support/checker.js';

/** A lease of 1 s with a margin of 100 ms. */
const settings: Settings = {
  heartbeatIntervalMs: 300,
  lockExpiryMs: 1_000,
  shutdownTimeoutMs: 3_000,
  misfireGraceMs: new Map([['report', 500]]),
  delayMs: new Map([['pause', 700]]),
  drift: 0,
  travelMs: 2,
  toleranceMs: 1,
  epochMs: 0,
};
const run = (overrides: Partial<WitnessedRun>): WitnessedRun => ({
  job: 'tick',
  process: 'a',
  fencingToken: 1,
  scheduledAt: 0,
  startedMs: 10,
  endedMs: 20,
  ...overrides,
});
const term = (overrides: Partial<WitnessedTerm>): WitnessedTerm => ({
  job: 'tick',
  process: 'a',
  fencingToken: 1,
  gainedMs: 0,
  ...overrides,
});
const holding = (overrides: Partial<WitnessedHolding>): WitnessedHolding => ({
  job: 'tick',
  process: 'a',
  holder: 'a#1',
  fencingToken: 1,
  fromMs: 0,
  untilMs: 1_000,
  ...overrides,
});
const step = (overrides: Partial<WitnessedStep>): WitnessedStep => ({
  job: 'tick',
  process: 'a',
  holder: 'a#1',
  command: 'renew',
  atMs: 100,
  before: 'a#1',
  after: 'a#1',
  ...overrides,
});
const stop = (overrides: Partial<WitnessedProcess>): WitnessedProcess => ({
  process: 'a',
  startedMs: 0,
  stopAskedMs: 1_000,
  endedMs: 2_000,
  end: 'stopped',
  ...overrides,
});
const KEPT: Partial<History> = { settings, processes: [stop({ heldAtEnd: ['tick'] })] };
const confirmed = { job: 'tick', process: 'a', fencingToken: 1, sentMs: 0, answeredMs: 2 };
const CHANGED = { job: 'report', process: 'a', from: 0, to: 10, reason: 'schedule-changed', atMs: 50 };
/** Claimed at 10 by `a`, lost at 25 with all that was written since 5, and started again by `b`. */
const CLAIM = step({ job: 'report', command: 'claim', sentMs: 9, atMs: 10, claimed: 1 });
const CLAIM_OF_B = step({
  job: 'report',
  process: 'b',
  holder: 'b#1',
  command: 'claim',
  sentMs: 39,
  atMs: 40,
  before: 'b#1',
  after: 'b#1',
  claimed: 1,
});
const LOST_CLAIM: Partial<History> = {
  faults: [{ kind: 'fall-back', fromMs: 25, untilMs: 25, sinceMs: 5 }],
  runs: [
    run({ job: 'report', scheduledAt: 1, startedMs: 11, endedMs: 12 }),
    run({ job: 'report', scheduledAt: 1, process: 'b', fencingToken: 2, startedMs: 41, endedMs: 42 }),
  ],
  due: new Map([['report', [1]]]),
};
/** `a` leads until 50 and runs on until 90, `b` runs from 60 on; somebody deletes the lock at 40. */
const LEADS_ON = term({ endedMs: 50, end: 'expired' });
const DELETED: Partial<History> = {
  settings,
  faults: [{ kind: 'lock-deleted', fromMs: 40, untilMs: 40, job: 'tick' }],
  runs: [run({ endedMs: 90 }), run({ process: 'b', fencingToken: 2, startedMs: 60, endedMs: 70 })],
};
const WITHIN_MARGIN: Partial<History> = {
  settings,
  runs: [run({ startedMs: 950, endedMs: 955, abortedMs: 900 })],
  terms: [term({})],
  confirmations: [confirmed],
};
const NOT_CONFIRMED_REPORT = {
  job: 'report',
  process: 'b',
  from: 0,
  to: 10,
  reason: 'start-not-confirmed',
  atMs: 50,
};
const NOT_CONFIRMED: Partial<History> = {
  runs: [run({ job: 'report', scheduledAt: 10 })],
  reports: [NOT_CONFIRMED_REPORT],
  due: new Map([['report', [10]]]),
};
/** Every 400, of which the slots at 0 and 400 are started. */
const FELL_SILENT: Partial<History> = {
  settings,
  runs: [run({ clockAheadMs: 0 }), run({ clockAheadMs: 0, scheduledAt: 400, startedMs: 410, endedMs: 420 })],
  terms: [term({})],
  drops: [],
  grids: new Map([['tick', 400]]),
};
/** Due at 50, with a grace of 500, and lost with all data at 3,000, before `b` first heard of the job. */
const LEFT_OUT: Partial<History> = {
  settings,
  faults: [{ kind: 'data-loss', fromMs: 3_000, untilMs: 3_000 }],
  terms: [term({ job: 'report', process: 'b', fencingToken: 2, gainedMs: 3_010 })],
  processes: [{ process: 'b', startedMs: 0, metMs: new Map([['report', 3_010]]) }],
  due: new Map([['report', [50]]]),
};
/** Runs of two leaders long after the data was lost, with something else that was wrong. */
function beyondLoss(kind: string): Partial<History> {
  return {
    settings,
    faults: [
      { kind: 'data-loss', fromMs: 100, untilMs: 100 },
      { kind, process: 'a', fromMs: 90, untilMs: 900 },
    ],
    terms: [term({}), term({ process: 'b', fencingToken: 2, gainedMs: 110 })],
    runs: [run({ endedMs: 950 }), run({ process: 'b', fencingToken: 2, startedMs: 750, endedMs: 800 })],
    processes: [stop({}), { process: 'b', startedMs: 0, metMs: new Map([['tick', 105]]) }],
  };
}
const rulesBrokenBy = (history: Partial<History>): Rule[] =>
  check({ runs: [], reports: [], due: new Map(), ...history }).map(({ rule }) => rule);

/** Of each rule a history that keeps it and one that breaks it. */
const EXAMPLES: readonly { rule: Rule; what: string; kept: Partial<History>; broken: Partial<History> }[] = [
  {
    rule: 'overlap',
    what: 'a run that starts beside one whose signal has not fired',
    kept: {
      runs: [run({ ignoresSignal: true, abortedMs: 12, endedMs: 90 }), run({ startedMs: 30, endedMs: 40 })],
    },
    broken: { runs: [run({ ignoresSignal: true, endedMs: 90 }), run({ startedMs: 30, endedMs: 40 })] },
  },
  {
    rule: 'belief-beyond-lock',
    what: 'a process that believes in a lock that the server has given away',
    kept: { settings, terms: [term({})], holdings: [holding({})], confirmations: [confirmed] },
    broken: { settings, terms: [term({})], holdings: [holding({ untilMs: 800 })], confirmations: [confirmed] },
  },
  {
    rule: 'start-outside-term',
    what: 'a start after the end of its term',
    kept: { runs: [run({})], terms: [term({ endedMs: 15, end: 'expired' })] },
    broken: { runs: [run({})], terms: [term({ endedMs: 5, end: 'expired' })] },
  },
  {
    rule: 'start-after-deadline',
    what: 'a start within the safety margin',
    kept: { settings, runs: [run({ startedMs: 890, endedMs: 895 })], terms: [term({})], confirmations: [confirmed] },
    broken: {
      settings,
      runs: [run({ startedMs: 910, endedMs: 915, abortedMs: 900 })],
      terms: [term({})],
      confirmations: [confirmed],
    },
  },
  {
    rule: 'aborted-too-late',
    what: 'a run that hears of the deadline too late',
    kept: {
      settings,
      runs: [run({ endedMs: 950, abortedMs: 900 })],
      terms: [term({})],
      confirmations: [confirmed],
    },
    broken: {
      settings,
      runs: [run({ endedMs: 990, abortedMs: 980 })],
      terms: [term({})],
      confirmations: [confirmed],
    },
  },
  {
    rule: 'token-not-grown',
    what: 'a holder whose token is not larger than that of the last one',
    kept: { holdings: [holding({}), holding({ holder: 'b#1', fencingToken: 2, fromMs: 1_000 })] },
    broken: { holdings: [holding({}), holding({ holder: 'b#1', fencingToken: 1, fromMs: 1_000 })] },
  },
  {
    rule: 'token-not-grown',
    what: 'a token that is given again, unless the store lost its data and its clock still shows the same millisecond',
    kept: {
      faults: [{ kind: 'data-loss', fromMs: 5, untilMs: 5 }],
      holdings: [holding({ fromMs: 5, untilMs: 5 }), holding({ holder: 'b#1', fromMs: 5.4 })],
    },
    broken: {
      faults: [{ kind: 'data-loss', fromMs: 5, untilMs: 5 }],
      holdings: [holding({ fromMs: 3, untilMs: 5 }), holding({ holder: 'b#1', fromMs: 5.4 })],
    },
  },
  {
    rule: 'started-twice',
    what: 'an occurrence whose claim a failover has lost, once its leader has told it again',
    kept: {
      ...LOST_CLAIM,
      steps: [CLAIM, CLAIM_OF_B],
    },
    broken: {
      ...LOST_CLAIM,
      steps: [CLAIM, step({ job: 'report', command: 'renew', sentMs: 30, atMs: 31 }), CLAIM_OF_B],
    },
  },
  {
    rule: 'started-twice',
    what: 'an occurrence whose claim was written before what a failover has lost',
    kept: {
      ...LOST_CLAIM,
      steps: [CLAIM, CLAIM_OF_B],
    },
    broken: {
      ...LOST_CLAIM,
      faults: [{ kind: 'fall-back', fromMs: 25, untilMs: 25, sinceMs: 15 }],
      steps: [CLAIM, CLAIM_OF_B],
    },
  },
  {
    rule: 'started-twice',
    what: 'an occurrence that was claimed, although the lock was deleted since',
    kept: { ...LOST_CLAIM, steps: [CLAIM, CLAIM_OF_B] },
    broken: {
      ...LOST_CLAIM,
      faults: [{ kind: 'lock-deleted', fromMs: 25, untilMs: 25, job: 'report' }],
      steps: [CLAIM, CLAIM_OF_B],
    },
  },
  {
    rule: 'overlap',
    what: 'a lock that was deleted for longer than its leader needs to find out',
    kept: {
      settings,
      faults: [{ kind: 'lock-deleted', fromMs: 5, untilMs: 5, job: 'tick' }],
      terms: [term({}), term({ process: 'b', fencingToken: 2, gainedMs: 6 })],
      runs: [run({ startedMs: 1, endedMs: 590 }), run({ process: 'b', fencingToken: 2, startedMs: 580, endedMs: 590 })],
    },
    broken: {
      settings,
      faults: [{ kind: 'lock-deleted', fromMs: 5, untilMs: 5, job: 'tick' }],
      terms: [term({}), term({ process: 'b', fencingToken: 2, gainedMs: 6 })],
      runs: [run({ startedMs: 1, endedMs: 650 }), run({ process: 'b', fencingToken: 2, startedMs: 640, endedMs: 650 })],
    },
  },
  {
    rule: 'lost-in-silence',
    what: 'an occurrence that a leader forgets which kept its lock when the state was deleted',
    kept: {
      settings,
      faults: [{ kind: 'state-deleted', fromMs: 100, untilMs: 100, job: 'report' }],
      holdings: [holding({ job: 'report', untilMs: 90 })],
      due: new Map([['report', [50]]]),
    },
    broken: {
      settings,
      faults: [{ kind: 'state-deleted', fromMs: 100, untilMs: 100, job: 'report' }],
      holdings: [holding({ job: 'report' })],
      due: new Map([['report', [50]]]),
    },
  },
  {
    rule: 'reported-twice',
    what: 'a window that a changed schedule left behind, although the store had heard of the first report',
    kept: {
      reports: [CHANGED, { ...CHANGED, process: 'b', atMs: 60 }],
      // its grant, which tells nothing of what was accounted for
      confirmations: [{ ...confirmed, job: 'report', sentMs: 55, answeredMs: 57 }],
      due: new Map([['report', [10]]]),
    },
    broken: {
      reports: [CHANGED, { ...CHANGED, process: 'b', atMs: 60 }],
      confirmations: [
        { ...confirmed, job: 'report' },
        { ...confirmed, job: 'report', sentMs: 51, answeredMs: 53 },
      ],
      due: new Map([['report', [10]]]),
    },
  },
  {
    rule: 'started-and-reported',
    what: 'an occurrence that is reported as late although it was started',
    kept: {
      runs: [run({ job: 'report', scheduledAt: 10 })],
      reports: [{ job: 'report', process: 'b', from: 0, to: 10, reason: 'start-not-confirmed' }],
      due: new Map([['report', [10]]]),
    },
    broken: {
      runs: [run({ job: 'report', scheduledAt: 10 })],
      reports: [{ job: 'report', process: 'b', from: 0, to: 10, reason: 'late' }],
      due: new Map([['report', [10]]]),
    },
  },
  {
    rule: 'reported-twice',
    what: 'an occurrence that two leaders report',
    kept: {
      reports: [
        { job: 'report', process: 'a', from: 0, to: 10, reason: 'late' },
        { job: 'report', process: 'b', from: 10, to: 20, reason: 'late' },
      ],
      due: new Map([['report', [10, 20]]]),
    },
    broken: {
      reports: [
        { job: 'report', process: 'a', from: 0, to: 10, reason: 'late' },
        { job: 'report', process: 'b', from: 0, to: 20, reason: 'late' },
      ],
      due: new Map([['report', [10, 20]]]),
    },
  },
  {
    rule: 'started-too-late',
    what: 'an occurrence that starts after its grace',
    kept: { settings, runs: [run({ job: 'report', startedMs: 900 })], due: new Map([['report', [0]]]) },
    broken: { settings, runs: [run({ job: 'report', startedMs: 1_100 })], due: new Map([['report', [0]]]) },
  },
  {
    rule: 'slot-started-twice',
    what: 'a slot that two processes start whose clocks agree',
    kept: {
      runs: [run({ clockAheadMs: 0 }), run({ clockAheadMs: -500, startedMs: 30, endedMs: 40 })].reverse(),
      grids: new Map([['tick', 400]]),
    },
    broken: {
      runs: [run({ clockAheadMs: 0 }), run({ clockAheadMs: 5, startedMs: 30, endedMs: 40 })],
      grids: new Map([['tick', 400]]),
    },
  },
  {
    rule: 'slot-started-twice',
    what: 'a slot that was told in a release, to a process whose clock is behind by more than the margin',
    kept: {
      settings,
      runs: [run({ clockAheadMs: 0 }), run({ process: 'b', clockAheadMs: -150, startedMs: 30, endedMs: 40 })],
      grids: new Map([['tick', 400]]),
    },
    broken: {
      settings,
      runs: [run({ clockAheadMs: 0 }), run({ process: 'b', clockAheadMs: -150, startedMs: 30, endedMs: 40 })],
      holdings: [holding({ untilMs: 25 })],
      steps: [step({ command: 'release', atMs: 25, after: undefined })],
      grids: new Map([['tick', 400]]),
    },
  },
  {
    rule: 'late-tick',
    what: 'a start for a slot when a newer one is due',
    kept: { settings, runs: [run({ latenessMs: 399 })], grids: new Map([['tick', 400]]) },
    broken: { settings, runs: [run({ latenessMs: 401 })], grids: new Map([['tick', 400]]) },
  },
  {
    rule: 'tick-unaccounted',
    what: 'a slot that a leader neither starts nor drops',
    kept: {
      runs: [run({}), run({ scheduledAt: 1_200, startedMs: 1_210, endedMs: 1_220 })],
      terms: [term({})],
      drops: [{ job: 'tick', process: 'a', scheduledAt: 800, count: 2, atMs: 810 }],
      grids: new Map([['tick', 400]]),
    },
    broken: {
      runs: [run({}), run({ scheduledAt: 1_200, startedMs: 1_210, endedMs: 1_220 })],
      terms: [term({})],
      drops: [{ job: 'tick', process: 'a', scheduledAt: 800, count: 1, atMs: 810 }],
      grids: new Map([['tick', 400]]),
    },
  },
  {
    rule: 'tick-unaccounted',
    what: 'a leader that falls silent before the end of its term',
    kept: { ...FELL_SILENT, endMs: 1_190 },
    broken: { ...FELL_SILENT, endMs: 1_290 },
  },
  {
    rule: 'tick-unaccounted',
    what: 'a leader that falls silent although nothing keeps it',
    kept: { ...FELL_SILENT, endMs: 1_290, faults: [{ kind: 'pause', process: 'a', fromMs: 500, untilMs: 600 }] },
    broken: { ...FELL_SILENT, endMs: 1_290, faults: [{ kind: 'pause', process: 'b', fromMs: 500, untilMs: 600 }] },
  },
  {
    rule: 'gap-too-short',
    what: 'an interval that starts again too soon',
    kept: {
      settings,
      runs: [run({ job: 'pause' }), run({ job: 'pause', process: 'b', startedMs: 30, endedMs: 40 })],
    },
    broken: { settings, runs: [run({ job: 'pause' }), run({ job: 'pause', startedMs: 30, endedMs: 40 })] },
  },
  {
    rule: 'resurrected',
    what: 'a renewal that makes its holder hold again',
    kept: { steps: [step({ command: 'acquire', before: undefined })] },
    broken: { steps: [{ job: 'tick', process: 'a', holder: 'a#1', command: 'renew', atMs: 100, after: 'a#1' }] },
  },
  {
    rule: 'stranger-changed-lock',
    what: 'a release that frees the lock of another',
    kept: { steps: [step({ command: 'release', holder: 'b#1' })] },
    broken: { steps: [step({ command: 'release', holder: 'b#1', after: undefined })] },
  },
  {
    rule: 'stop-too-long',
    what: 'a stop beyond its time',
    kept: { settings, processes: [stop({})] },
    broken: { settings, processes: [stop({ endedMs: 4_500 })] },
  },
  {
    rule: 'lock-kept',
    what: 'a stop that leaves a lock behind',
    kept: {
      ...KEPT,
      faults: [{ kind: 'weather', fromMs: 900, untilMs: 5_000 }],
    },
    broken: KEPT,
  },
  {
    rule: 'lock-kept',
    what: 'a stop that leaves a lock behind which it could have found out about',
    kept: { ...KEPT, holdings: [holding({ sentMs: 100, fromMs: 1_900, untilMs: 2_900 })] },
    broken: { ...KEPT, holdings: [holding({ sentMs: 1_899, fromMs: 1_900, untilMs: 2_900 })] },
  },
  {
    rule: 'timer-left',
    what: 'a stop that leaves a timer behind',
    kept: { settings, processes: [stop({ timersAtEnd: 0 })] },
    broken: { settings, processes: [stop({ timersAtEnd: 1 })] },
  },
  {
    rule: 'act-after-end',
    what: 'a command that is sent after the end',
    kept: { processes: [stop({})], steps: [step({ sentMs: 1_999, atMs: 2_100 })] },
    broken: { processes: [stop({})], steps: [step({ sentMs: 2_001, atMs: 2_100 })] },
  },
  {
    rule: 'leaderless-too-long',
    what: 'a job that nobody leads for longer than a lock lives',
    kept: {
      settings,
      processes: [stop({ process: 'b', stopAskedMs: 90_000, endedMs: 90_000 })],
      faults: [],
      terms: [term({ endedMs: 500, end: 'process-ended' }), term({ fencingToken: 2, process: 'b', gainedMs: 1_600 })],
    },
    broken: {
      settings,
      processes: [stop({ process: 'b', stopAskedMs: 90_000, endedMs: 90_000 })],
      faults: [],
      terms: [term({ endedMs: 500, end: 'process-ended' }), term({ fencingToken: 2, process: 'b', gainedMs: 3_000 })],
    },
  },
  {
    rule: 'overlap',
    what: 'a run that goes on for long after its process stood still for a moment',
    kept: {
      settings,
      runs: [run({ stoodStill: true, wentOnMs: 1_000, endedMs: 1_500 }), run({ startedMs: 1_100, endedMs: 1_200 })],
    },
    broken: {
      settings,
      runs: [run({ stoodStill: true, wentOnMs: 30, endedMs: 1_500 }), run({ startedMs: 1_100, endedMs: 1_200 })],
    },
  },
  {
    rule: 'overlap',
    what: 'two leaders of whom the second was granted the lock before it was deleted',
    kept: { ...DELETED, terms: [LEADS_ON, term({ process: 'b', fencingToken: 2, gainedMs: 41 })] },
    broken: { ...DELETED, terms: [LEADS_ON, term({ process: 'b', fencingToken: 2, gainedMs: 39 })] },
  },
  {
    rule: 'overlap',
    what: 'a leader that trusts a lost lock for as long as a lease, although it only heard of no release',
    kept: { ...beyondLoss('weather') },
    broken: { ...beyondLoss('deaf') },
  },
  {
    rule: 'aborted-too-late',
    what: 'a deadline that passed long after its process had stood still',
    kept: {
      settings,
      runs: [run({ stoodStill: true, wentOnMs: 980, endedMs: 981, abortedMs: 981 })],
      terms: [term({})],
      confirmations: [confirmed],
    },
    broken: {
      settings,
      runs: [run({ stoodStill: true, wentOnMs: 30, endedMs: 981, abortedMs: 981 })],
      terms: [term({})],
      confirmations: [confirmed],
    },
  },
  {
    rule: 'start-after-deadline',
    what: 'a start within the safety margin, although the host slept later on',
    kept: { ...WITHIN_MARGIN, faults: [{ kind: 'suspend', process: 'a', fromMs: 500, untilMs: 600 }] },
    broken: { ...WITHIN_MARGIN, faults: [{ kind: 'suspend', process: 'a', fromMs: 5_000, untilMs: 5_100 }] },
  },
  {
    rule: 'start-after-deadline',
    what: 'a start before anything that was granted has been read',
    kept: { settings, runs: [run({})], terms: [term({})], confirmations: [confirmed] },
    broken: { settings, runs: [run({})], terms: [term({})], confirmations: [] },
  },
  {
    rule: 'token-went-back',
    what: 'a token between two that were seen before',
    kept: { runs: [run({ fencingToken: 5 }), run({ fencingToken: 6, startedMs: 30, endedMs: 40 })] },
    broken: {
      runs: [
        run({ fencingToken: 5 }),
        run({ fencingToken: 6, startedMs: 30, endedMs: 40 }),
        run({ fencingToken: 5, startedMs: 50, endedMs: 60 }),
      ],
    },
  },
  {
    rule: 'token-reused',
    what: 'two terms with one token',
    kept: { terms: [term({ endedMs: 20 }), term({ process: 'b', fencingToken: 2, gainedMs: 30 })] },
    broken: { terms: [term({ endedMs: 20 }), term({ process: 'b', gainedMs: 30 })] },
  },
  {
    rule: 'off-the-grid',
    what: 'a start for an instant between two slots',
    kept: { runs: [run({ scheduledAt: 800 })], grids: new Map([['tick', 400]]) },
    broken: { runs: [run({ scheduledAt: 801 })], grids: new Map([['tick', 400]]) },
  },
  {
    rule: 'off-the-grid',
    what: 'a start for a slot that is still to come',
    kept: { settings, runs: [run({ latenessMs: 0 })], grids: new Map([['tick', 400]]) },
    broken: { settings, runs: [run({ latenessMs: -5 })], grids: new Map([['tick', 400]]) },
  },
  {
    rule: 'leaderless-after-calm',
    what: 'a job that nobody leads, or that does not run, in the end',
    kept: {
      calm: { fromMs: 15, untilMs: 99, jobs: ['tick'], epochMs: 0 },
      runs: [run({})],
      terms: [term({})],
    },
    broken: {
      calm: { fromMs: 25, untilMs: 99, jobs: ['tick'], epochMs: 0 },
      runs: [run({ scheduledAt: 5_000 })],
      terms: [term({})],
    },
  },
  {
    rule: 'started-twice',
    what: 'an occurrence that one process starts again, whatever the store has lost',
    kept: { ...LOST_CLAIM, steps: [CLAIM, CLAIM_OF_B] },
    broken: {
      ...LOST_CLAIM,
      runs: [
        run({ job: 'report', scheduledAt: 1, startedMs: 11, endedMs: 12 }),
        run({ job: 'report', scheduledAt: 1, fencingToken: 2, startedMs: 41, endedMs: 42 }),
      ],
      steps: [CLAIM],
    },
  },
  {
    rule: 'started-and-reported',
    what: 'a start that is reported as not confirmed, although a heartbeat had told it',
    kept: { ...NOT_CONFIRMED, steps: [step({ job: 'report', sentMs: 9, atMs: 11 })] },
    broken: { ...NOT_CONFIRMED, steps: [step({ job: 'report', sentMs: 11, atMs: 12 })] },
  },
  {
    rule: 'started-and-reported',
    what: 'an occurrence that is told as lost with a state that was not lost',
    kept: {
      ...NOT_CONFIRMED,
      reports: [{ ...NOT_CONFIRMED_REPORT, reason: 'state-lost' }],
      faults: [{ kind: 'state-deleted', fromMs: 45, untilMs: 45, job: 'report' }],
    },
    broken: { ...NOT_CONFIRMED, reports: [{ ...NOT_CONFIRMED_REPORT, reason: 'state-lost' }], faults: [] },
  },
  {
    rule: 'reported-twice',
    what: 'a start that is told as not confirmed again, although the store had heard of the first report',
    kept: {
      ...NOT_CONFIRMED,
      reports: [NOT_CONFIRMED_REPORT, { ...NOT_CONFIRMED_REPORT, process: 'c', atMs: 70 }],
      confirmations: [{ ...confirmed, job: 'report', process: 'b', sentMs: 45, answeredMs: 47 }],
    },
    broken: {
      ...NOT_CONFIRMED,
      reports: [NOT_CONFIRMED_REPORT, { ...NOT_CONFIRMED_REPORT, process: 'c', atMs: 70 }],
      confirmations: [
        { ...confirmed, job: 'report', process: 'b', sentMs: 45, answeredMs: 47 },
        { ...confirmed, job: 'report', process: 'b', sentMs: 55, answeredMs: 57 },
      ],
    },
  },
  {
    rule: 'lost-in-silence',
    what: 'an occurrence that a leader left out long before the data was lost',
    kept: { ...LEFT_OUT, steps: [step({ job: 'report', sentMs: 1_900, atMs: 1_901 })] },
    broken: { ...LEFT_OUT, steps: [step({ job: 'report', sentMs: 2_900, atMs: 2_901 })] },
  },
  {
    rule: 'lock-kept',
    what: 'a stop that leaves a lock behind, whatever goes wrong after its end',
    kept: {
      ...KEPT,
      faults: [{ kind: 'weather', fromMs: 1_999, untilMs: 5_000 }],
    },
    broken: {
      ...KEPT,
      faults: [{ kind: 'weather', fromMs: 2_001, untilMs: 5_000 }],
    },
  },
  {
    rule: 'lock-kept',
    what: 'a stop that leaves a lock behind which it led by until it was asked to stop',
    kept: { ...KEPT, terms: [term({ endedMs: 900, end: 'expired' })] },
    broken: { ...KEPT, terms: [term({ endedMs: 1_100, end: 'expired' })] },
  },
  {
    rule: 'lock-kept',
    what: 'a stop that leaves a lock behind which had been given back, and no failover brought it back',
    kept: {
      ...KEPT,
      terms: [term({ endedMs: 900, end: 'released' })],
      faults: [{ kind: 'fall-back', fromMs: 950, untilMs: 950, sinceMs: 800 }],
    },
    broken: { ...KEPT, terms: [term({ endedMs: 900, end: 'released' })] },
  },
  {
    rule: 'too-many-commands',
    what: 'a fleet that asks more than it must at rest',
    kept: restWith(5),
    broken: restWith(50),
  },
];

function restWith(renewals: number): Partial<History> {
  return {
    settings,
    calm: { fromMs: 2_000, untilMs: 3_000, jobs: ['tick'], epochMs: 0 },
    runs: [run({ startedMs: 2_500, endedMs: 2_501 })],
    terms: [term({})],
    processes: [{ process: 'a', startedMs: 0 }],
    steps: Array.from({ length: renewals }, (_, index) => step({ atMs: 2_001 + index })),
  };
}

describe.each(EXAMPLES)("The checker's rule '$rule'", ({ rule, what, kept, broken }) => {
  it(`finds ${what}`, () => {
    expect(rulesBrokenBy(broken)).toEqual([rule]);
  });

  it('finds nothing in a history that keeps it', () => {
    expect(rulesBrokenBy(kept)).toEqual([]);
  });
});

describe('When the clock of the store is set', () => {
  const beside = (byMs: number, startedMs: number): Partial<History> => ({
    settings,
    faults: [{ kind: 'store-clock-step', fromMs: 100, untilMs: 100, byMs }],
    terms: [term({}), term({ process: 'b', fencingToken: 2, gainedMs: 110 })],
    runs: [run({ endedMs: 950 }), run({ process: 'b', fencingToken: 2, startedMs, endedMs: 960 })],
  });

  it('ahead, two may run at once until a renewal has told the old leader, and no longer', () => {
    expect(rulesBrokenBy(beside(2_000, 650))).toEqual([]);
    expect(rulesBrokenBy(beside(2_000, 750))).toEqual(['overlap']);
  });

  it('back, or ahead by less than the margin of a lease, they may not', () => {
    expect(rulesBrokenBy(beside(-2_000, 120))).toEqual(['overlap']);
    expect(rulesBrokenBy(beside(30, 120))).toEqual(['overlap']);
  });

  it('the gap of an interval is unknown to who did not see its last run, and to nobody else', () => {
    const later = (process: string): Partial<History> => ({
      settings,
      faults: [{ kind: 'store-clock-step', fromMs: 100, untilMs: 100, byMs: 2_000 }],
      runs: [run({ job: 'pause' }), run({ job: 'pause', process, fencingToken: 2, startedMs: 300, endedMs: 310 })],
      steps: [{ job: 'pause', process: 'a', holder: 'a#1', command: 'release', atMs: 30, before: 'a#1' }],
      holdings: [holding({ job: 'pause', untilMs: 100 })],
    });
    expect(rulesBrokenBy(later('b'))).toEqual([]);
    expect(rulesBrokenBy({ ...later('b'), faults: [] })).toEqual(['gap-too-short']);
    expect(rulesBrokenBy(later('a'))).toEqual(['gap-too-short']);
  });
});

describe('After a loss of data', () => {
  const lost: Partial<History> = {
    settings,
    faults: [{ kind: 'data-loss', fromMs: 100, untilMs: 100 }],
    terms: [term({ endedMs: 400, end: 'preempted' }), term({ process: 'b', fencingToken: 2, gainedMs: 110 })],
    runs: [run({ endedMs: 300 }), run({ process: 'b', fencingToken: 2, startedMs: 120, endedMs: 130 })],
  };
  const met = (atMs: number) => [stop({}), { process: 'b', startedMs: 0, metMs: new Map([['tick', atMs]]) }];

  it('what was due before it may be lost to a fresh leader, but not what a leader of before had passed over', () => {
    const history: Partial<History> = {
      settings,
      faults: [{ kind: 'data-loss', fromMs: 100, untilMs: 100 }],
      terms: [term({ job: 'report', process: 'b', fencingToken: 2, gainedMs: 110 })],
      processes: [{ process: 'b', startedMs: 0, metMs: new Map([['report', 110]]) }],
      runs: [run({ job: 'report', scheduledAt: 60, startedMs: 61, endedMs: 62 })],
      due: new Map([['report', [50, 60]]]),
    };
    const grant = step({ job: 'report', command: 'acquire', sentMs: 1, atMs: 2, after: 'a#1' });
    const renewal = step({ job: 'report', sentMs: 70, atMs: 71 });
    const terms = [term({ job: 'report', endedMs: 90, end: 'process-ended' }), ...(history.terms ?? [])];
    expect(rulesBrokenBy({ ...history, terms, steps: [grant] })).toEqual([]);
    expect(rulesBrokenBy({ ...history, terms, steps: [grant, renewal] })).toEqual(['lost-in-silence']);
  });

  it('a process that is fresh to it may run beside the old leader', () => {
    expect(rulesBrokenBy({ ...lost, processes: met(105) })).toEqual([]);
  });

  it('one that knew the store before may not', () => {
    expect(rulesBrokenBy({ ...lost, processes: met(50) })).toEqual(['overlap']);
  });

  it('two that were both granted the lock since may not run side by side, however fresh they are', () => {
    const terms = [term({ gainedMs: 105 }), term({ process: 'b', fencingToken: 2, gainedMs: 110 })];
    const runs = [run({ startedMs: 106, endedMs: 300 }), run({ process: 'b', fencingToken: 2, startedMs: 120 })];
    expect(rulesBrokenBy({ ...lost, terms, runs, processes: met(105) })).toEqual(['overlap']);
  });

  it('a leader whose lock was lost before trusts its lease over it only while it has not read who leads beside that', () => {
    const history: Partial<History> = {
      ...lost,
      faults: [
        { kind: 'lock-deleted', job: 'tick', fromMs: 50, untilMs: 50 },
        { kind: 'data-loss', fromMs: 100, untilMs: 100 },
      ],
      terms: [
        term({ endedMs: 60, end: 'preempted' }),
        term({ process: 'b', fencingToken: 2, gainedMs: 55 }),
        term({ fencingToken: 3, gainedMs: 110 }),
      ],
      runs: [
        run({ process: 'b', fencingToken: 2, startedMs: 70, endedMs: 300 }),
        run({ fencingToken: 3, startedMs: 120, endedMs: 130 }),
      ],
      processes: [stop({ metMs: new Map([['tick', 1]]) }), stop({ process: 'b', metMs: new Map([['tick', 1]]) })],
    };
    const refused = { job: 'tick', process: 'a', holder: 'a#2', by: 'b#1', atMs: 62 };
    expect(rulesBrokenBy(history)).toEqual([]);
    expect(rulesBrokenBy({ ...history, refusals: [{ ...refused, atMs: 45 }] })).toEqual([]);
    expect(rulesBrokenBy({ ...history, refusals: [refused] })).toEqual(['overlap']);
  });

  it('a leader that nothing hinders runs on only until its next renewal has told it', () => {
    const terms = [term({}), term({ process: 'b', fencingToken: 2, gainedMs: 110 })];
    const besideAt = (startedMs: number) => [
      run({ endedMs: 950 }),
      run({ process: 'b', fencingToken: 2, startedMs, endedMs: 960 }),
    ];
    const known = [stop({}), { process: 'b', startedMs: 0, metMs: new Map([['tick', 105]]) }];
    const faults = [
      { kind: 'data-loss', fromMs: 100, untilMs: 100 },
      { kind: 'step-down', process: 'a', fromMs: 90, untilMs: 900 },
    ];
    expect(rulesBrokenBy({ ...lost, faults, terms, runs: besideAt(650), processes: known })).toEqual([]);
    expect(rulesBrokenBy({ ...lost, faults, terms, runs: besideAt(750), processes: known })).toEqual(['overlap']);
  });
});
