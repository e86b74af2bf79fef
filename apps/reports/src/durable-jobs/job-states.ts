/** `Failed` will be retried, `DeadLettered` will not unless a person calls `retry()`. */
export type JobStatus = 'Pending' | 'Running' | 'Completed' | 'Failed' | 'DeadLettered' | 'Cancelled';

/** What changes a status. */
export type Transition =
  'claim' | 'complete' | 'fail' | 'failForGood' | 'retryDelayOver' | 'giveBack' | 'cancel' | 'retry';

const NEXT: Readonly<Record<JobStatus, Readonly<Partial<Record<Transition, JobStatus>>>>> = {
  Pending: { claim: 'Running', cancel: 'Cancelled', failForGood: 'DeadLettered' },
  Running: {
    complete: 'Completed',
    fail: 'Failed',
    failForGood: 'DeadLettered',
    giveBack: 'Pending',
    cancel: 'Cancelled',
  },
  Failed: { retryDelayOver: 'Pending', cancel: 'Cancelled', retry: 'Pending' },
  DeadLettered: { retry: 'Pending' },
  Completed: {},
  Cancelled: {},
};

/** The status after a transition, or undefined if a job of this status does not permit it. */
export function after(status: JobStatus, transition: Transition): JobStatus | undefined {
  return NEXT[status][transition];
}

/** Whether a job of this status does nothing more by itself. */
export function hasEnded(status: JobStatus): boolean {
  return status === 'Completed' || status === 'DeadLettered' || status === 'Cancelled';
}

/** The message of the error that ends a cancelled run: BullMQ knows no cancelled state. */
export const CANCELLED_REASON = 'cancelled by its owner';

/** The status of a job that BullMQ stores. */
export function statusOf(
  state: string,
  job: { readonly attemptsMade: number; readonly failedReason?: string },
): JobStatus {
  switch (state) {
    case 'completed':
      return 'Completed';
    case 'failed':
      return job.failedReason === CANCELLED_REASON ? 'Cancelled' : 'DeadLettered';
    case 'active':
      return 'Running';
    case 'delayed':
      return job.attemptsMade > 0 ? 'Failed' : 'Pending';
    default:
      return 'Pending';
  }
}
