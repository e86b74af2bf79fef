import { setMaxListeners } from 'node:events';
import { type Notify } from '../base/events/events.js';
import { type LockStore } from '../store/lock-store.js';
import { type BackoffPolicy } from '../base/time/backoff.js';
import { type Clock } from '../base/time/clock.js';
import { within } from '../base/time/within.js';
import { Acquirer } from './acquirer.js';
import { AfterRestart } from './after-restart.js';
import { type HeartbeatBackup } from './heartbeat-backup.js';
import { Heartbeats } from './heartbeats.js';
import { LockMessages } from './lock-messages.js';
import { Renewals } from './renewals.js';
import { SessionList } from './session-list.js';
import { Sessions } from './sessions.js';
import { StoreClient } from './store-client/store-client.js';

interface ReplicaSettings extends BackoffPolicy {
  /** `nodeId-random`: the readable name of this process in holders and sessions. */
  readonly id: string;
}

interface ReplicaParts {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly notify: Notify;
  /** In [0, 1). */
  readonly random: () => number;
  /** Sends heartbeats while the event loop is blocked. */
  readonly backup?: HeartbeatBackup | undefined;
}

/** What every part of a replica needs. */
export interface ReplicaContext extends Pick<ReplicaParts, 'clock' | 'notify' | 'random'> {
  readonly id: ReplicaSettings['id'];
  readonly client: StoreClient;
  readonly settings: BackoffPolicy;
  /** Aborts when the replica closes: leases end, and nothing new begins. */
  readonly closing: AbortSignal;
}

/** How long the close waits for requests in the background. */
const CLOSE_MS = 500;

/** Puts together what all elections and locks of a process share, and opens and closes it. */
export class Replica {
  readonly context: ReplicaContext;
  readonly sessions: Sessions;
  /** The sessions of all replicas. */
  readonly list = new SessionList();
  readonly heartbeats: Heartbeats;
  readonly restarts: AfterRestart;
  readonly messages: LockMessages;
  readonly renewals: Renewals;
  readonly acquirer: Acquirer;
  /** How many jobs this replica competes for or leads, and how many it leads. */
  readonly jobs = { competing: 0, leading: 0 };
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  constructor(
    settings: ReplicaSettings,
    private readonly parts: ReplicaParts,
  ) {
    const { store, clock, notify, random, backup } = parts;
    const { id, heartbeatIntervalMs: intervalMs } = settings;
    const client = new StoreClient({ store, clock, notify, random, backoff: settings });
    this.context = { id, clock, notify, random, client, settings, closing: this.#closing.signal };
    // every lease listens to this signal; Node would warn about a leak
    setMaxListeners(0, this.#closing.signal);
    this.renewals = new Renewals(clock);
    this.messages = new LockMessages(this.context, this.renewals);
    this.acquirer = new Acquirer(this.context, this.messages);
    this.restarts = new AfterRestart(clock, () => {
      client.onStoreRestart();
      this.messages.eachWaiter((waiter) => waiter.onStoreRestart?.());
    });
    this.sessions = new Sessions(this.context, () => this.heartbeats);
    const { list, restarts, sessions } = this;
    const onAnswer = (changed: { readonly list: boolean; readonly pauses: boolean }): void => {
      this.messages.eachWaiter((waiter) => {
        if (changed.list) waiter.sessionsChanged?.();
        if (changed.pauses) waiter.pausesChanged?.();
        waiter.heartbeatAnswered?.();
      });
    };
    this.heartbeats = new Heartbeats(this.context, { sessions, list, restarts, intervalMs, backup, onAnswer });
    store.addListener({
      warning: (warning) => {
        notify('warning', warning);
      },
      message: (message) => {
        // the store decides which sessions have ended, not the message
        const isNews = message.kind === 'sessions-ended' && message.sessions.some((id) => !list.hasEnded(id));
        if (isNews) void this.heartbeats.send();
      },
    });
  }

  /** Begins to connect, once. It does not wait for the store and does not fail without it. */
  open(): void {
    this.context.client.open({
      greet: () => this.heartbeats.greet(),
      ready: (isReconnect) => {
        if (!isReconnect) return;
        this.renewals.renewAll();
        this.messages.eachWaiter((waiter) => waiter.connected?.());
      },
    });
  }

  /** Ends sessions under which nothing runs, and closes the connections. Locks and sessions in use expire by themselves. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { client, clock } = this.context;
    // before the sessions end: a run that continues must not count as a lost lease
    this.#closing.abort();
    this.messages.stop();
    this.heartbeats.stop();
    this.sessions.stop();
    if (client.isConnected) await within(clock, CLOSE_MS, client.drained());
    this.renewals.stop();
    await Promise.all([client.close(), this.parts.backup?.close()]);
  }
}
