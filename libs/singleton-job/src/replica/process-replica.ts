import { randomBytes } from 'node:crypto';
import { type Replica } from '../leadership/index.js';
import { diagnostics, type JobObserver, LoggingObserver, type Notify, notifyAll } from '../events/index.js';
import { type ResolvedOptions } from '../options/index.js';
import { JobStatistics } from './job-statistics.js';
import { createReplica } from './create-replica.js';

/** The first of them tell how it began. An application that never finds its observers must not fill its memory. */
const MOST_EARLY = 500;

/** The readable `nodeId` and a random part that no other process, not even its own successor, has. */
export function createReplicaId(nodeId: string): string {
  return `${nodeId}-${randomBytes(4).toString('hex')}`;
}

/**
 * The one replica of an application. Jobs and `LockService` share it, and with it the store and its connections. It is
 * made when it is first asked for, so that an application which locks while it starts need not wait for its jobs.
 */
export class ProcessReplica {
  readonly id: string;
  /** Tells every observer, also those that are found later. */
  readonly notify: Notify;
  readonly statistics = new JobStatistics();
  readonly #observers: JobObserver[];
  /** What happened before the observers of the application were found. */
  #early: ((tell: Notify) => void)[] | undefined = [];
  #replica: Replica | undefined;

  constructor(readonly options: ResolvedOptions) {
    this.id = createReplicaId(options.nodeId);
    const { projectName } = options;
    this.#observers = [new LoggingObserver({ projectName, node: this.id }), this.statistics, diagnostics];
    const tell = notifyAll(this.#observers);
    this.notify = (event, payload) => {
      if (this.#early !== undefined && this.#early.length < MOST_EARLY)
        this.#early.push((late) => {
          late(event, payload);
        });
      tell(event, payload);
    };
  }

  /** Adds the observers of the application, which are told first what happened while it started: it may have used locks. */
  observe(...observers: readonly JobObserver[]): void {
    const tellOurs = notifyAll([...this.#observers]);
    // who fails at it is told of as at any other time
    const tell = notifyAll([
      ...observers,
      {
        observerFailed: (failure) => {
          tellOurs('observerFailed', failure);
        },
      },
    ]);
    for (const tellOne of this.#early ?? []) tellOne(tell);
    this.#early = undefined;
    this.#observers.push(...observers);
  }

  get(): Replica {
    const { options, id, notify } = this;
    this.#replica ??= createReplica({ options, replicaId: id, notify });
    return this.#replica;
  }

  /** Every trouble with the store that goes on: see {@link StoreClient.outages}. */
  get outages(): Replica['client']['outages'] {
    return this.#replica?.client.outages ?? [];
  }

  /** Ends renewals and connections, if there are any. Locks still held are left to expire. */
  async close(): Promise<void> {
    await this.#replica?.close();
  }
}
