import { type JobObserver } from '../../../libs/singleton-job/src/index.js';
import { tell } from './tell.js';

/** Tells the witness what the library says of itself; of its runs the jobs tell. */
export const report: JobObserver = {
  leadershipGained: ({ job, fencingToken }) => {
    tell('gained', { job, token: fencingToken });
  },
  leadershipLost: ({ job, fencingToken, reason }) => {
    tell('lost', { job, token: fencingToken, reason });
  },
  leadershipReleased: ({ job, fencingToken, reason, confirmed }) => {
    tell('released', { job, token: fencingToken, reason, confirmed });
  },
  tickDropped: ({ job, kind, reason, scheduledAt, count }) => {
    tell('dropped', { job, kind, reason, scheduledAt: scheduledAt.getTime(), count });
  },
  occurrencesMissed: ({ job, reason, from, to, count }) => {
    tell('missed', { job, reason, from: from.getTime(), to: to.getTime(), count });
  },
  loopBlocked: ({ blockedMs }) => {
    tell('loopBlocked', { blockedMs });
  },
  storeUnreachable: ({ error }) => {
    tell('storeUnreachable', { reason: error.message });
  },
  storeRecovered: ({ outageMs }) => {
    tell('storeRecovered', { outageMs });
  },
  clockAhead: ({ job, aheadMs }) => {
    tell('clockAhead', { job, aheadMs });
  },
  storeMisconfigured: ({ error }) => {
    broke('storeMisconfigured', error);
  },
  runFailed: ({ job, error }) => {
    broke(`runFailed ${job}`, error);
  },
  runnerFailed: ({ job, error }) => {
    broke(`runnerFailed ${job}`, error);
  },
  observerFailed: ({ event, error }) => {
    broke(`observerFailed ${event}`, error);
  },
};

/** What no fault of these tests may cause. */
function broke(what: string, error: unknown): void {
  tell('broke', { reason: `${what}: ${String(error).slice(0, 200)}` });
}
