/** A leader's question keeps a lease alive, so it goes first. */
export type Asker = 'leader' | 'bid';

/** What is asked of the store through the gate of the process. */
export interface Question<T> {
  /** The lock it is about. */
  readonly job: string;
  readonly asker: Asker;
  readonly deadlineMs: number;
  /** Once it aborts the question is not sent any more: its answer is undefined. */
  readonly signal: AbortSignal;
  readonly send: () => Promise<T>;
}

/** Why a question may be sent: all may be, or it is the one that finds out whether the store answers again, be it for nobody. */
export type Pass = 'open' | 'probe' | 'own-probe';
