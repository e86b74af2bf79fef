import { setMaxListeners } from 'node:events';
import { type Notify } from '../events/index.js';
import { type LockStore, type ReleaseMessage } from '../store/index.js';
import { type Clock } from '../time/index.js';
import { Askers } from './askers.js';
import { Complaints, MESSAGES } from './complaints.js';
import { Heartbeat } from './heartbeat.js';
import { Identity } from './identity.js';
import { Releases } from './releases.js';
import { Slots } from './slots.js';
import { StoreGate } from './store-gate.js';

export interface ReplicaSettings {
  /** `nodeId-random`: the readable name of this process in holder values. */
  readonly id: string;
  readonly heartbeatIntervalMs: number;
  readonly maxBackoffDelayMs: number;
}

export interface ReplicaParts {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly notify: Notify;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Whoever waits for the lock of a job. */
export interface Candidate {
  /** The lock was released. */
  heard(message: ReleaseMessage): void;
  /** Something may have been missed: ask once. */
  wake(): void;
  /** The store was out of reach, and may be another since. */
  reconnected(): void;
}

const MOST_BIDS_IN_FLIGHT = 200;

/** One process: what all its elections share. */
export class Replica {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly notify: Notify;
  readonly random: () => number;
  readonly identity: Identity;
  readonly gate: StoreGate;
  readonly complaints: Complaints;
  readonly heartbeat: Heartbeat;
  readonly releases: Releases;
  readonly bids = new Slots(MOST_BIDS_IN_FLIGHT);
  /** How many of its elections wait for somebody else's lock: the more, the further their next questions are spread. */
  following = 0;
  readonly #candidates = new Map<string, Set<Candidate>>();
  readonly #askers = new Askers((name) => {
    this.complaints.leave(name);
    this.gate.forget(name);
  });
  readonly #closing = new AbortController();
  #isOpen = false;
  #closed: Promise<void> | undefined;

  constructor(
    readonly settings: ReplicaSettings,
    parts: ReplicaParts,
  ) {
    const { heartbeatIntervalMs, id } = settings;
    this.store = parts.store;
    this.clock = parts.clock;
    this.notify = parts.notify;
    this.random = parts.random;
    this.identity = new Identity(id);
    const { closing } = this;
    // every term of every job listens to it, and that is no leak
    setMaxListeners(0, closing);
    const together = (send: () => void): void => {
      parts.store.batch(send);
    };
    const holder = this.identity.nobody;
    const probe = (name: string): Promise<unknown> =>
      parts.store.release({ name, holder, progress: {}, quietly: true });
    this.gate = new StoreGate({ ...parts, heartbeatIntervalMs, together, probe, closing, onRecovery: this.#wakeAll });
    this.heartbeat = new Heartbeat(parts.clock, heartbeatIntervalMs, together);
    const complaints = new Complaints(parts.notify, this.#wakeAll);
    this.complaints = complaints;
    const { gate } = this;
    this.releases = new Releases({ ...parts, gate, complaints, heartbeatIntervalMs, by: id, closing });
    parts.store.listen({
      hearing: () => {
        complaints.settle(MESSAGES);
        this.#wakeAll();
      },
      reachable: () => {
        for (const candidates of this.#candidates.values()) {
          for (const candidate of candidates) candidate.reconnected();
        }
        // in an outage one probe finds out whether it is over, and its success wakes everybody
        if (!this.gate.probeNow()) this.#wakeAll();
      },
      deaf: this.#wakeAll,
      refused: (error) => {
        complaints.raise(MESSAGES, error);
      },
      mayEvict: (policy) => {
        this.notify('evictionPossible', policy === undefined ? {} : { policy });
      },
      released: (message) => {
        for (const job of message.names) {
          for (const candidate of this.#candidates.get(job) ?? []) candidate.heard(message);
        }
      },
    });
  }

  /** How long a job that a full server refused waits: all of them together ask about twice a second. */
  refusalPauseMs(): number {
    return Math.min(500, this.settings.heartbeatIntervalMs) * (1 + this.random()) * Math.max(this.complaints.size, 1);
  }

  /** Tells a candidate when to ask again, until the returned function is called. */
  enter(job: string, candidate: Candidate): () => void {
    const candidates = this.#candidates.get(job) ?? new Set();
    this.#candidates.set(job, candidates.add(candidate));
    return () => {
      candidates.delete(candidate);
      if (candidates.size === 0) this.#candidates.delete(job);
    };
  }

  /**
   * Keeps what the questions about a name meet with, until the last of those who asked has called the returned function:
   * what nobody asks for must neither slow the others down nor stay for ever.
   */
  asks(name: string): () => void {
    return this.#askers.enter(name);
  }

  /** Begins to connect, once. Neither waits for the store nor fails for want of it. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.store.open();
  }

  /** Aborts when the connections are about to close: nobody waits for the store any longer. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Ends renewals and connections, once. Locks still held are left to expire. */
  close(): Promise<void> {
    this.#closing.abort();
    this.heartbeat.stop();
    this.#closed ??= this.store.close();
    return this.#closed;
  }

  readonly #wakeAll = (): void => {
    for (const candidates of this.#candidates.values()) {
      for (const candidate of candidates) candidate.wake();
    }
  };
}
