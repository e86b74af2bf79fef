import { type Heartbeats } from './heartbeats.js';
import { type ReplicaContext } from './replica.js';
import { Session } from './session.js';

/** The sessions of this replica, one for each distinct `lockExpiry`. */
export class Sessions {
  readonly #current = new Map<number, Session>();
  /** How many jobs compete, by `lockExpiry`. */
  readonly #jobs = new Map<number, number>();
  #count = 0;

  constructor(
    private readonly context: ReplicaContext,
    /** A function, because heartbeats need the sessions first. */
    private readonly heartbeats: () => Heartbeats,
  ) {}

  /** Those that are not over. */
  get all(): readonly Session[] {
    return [...this.#current.values()];
  }

  /** Adds a job with this `lockExpiry` until the returned function is called. The session ends with its last job. */
  addJob(lockExpiryMs: number): () => void {
    this.#jobs.set(lockExpiryMs, (this.#jobs.get(lockExpiryMs) ?? 0) + 1);
    this.of(lockExpiryMs);
    return () => {
      const others = (this.#jobs.get(lockExpiryMs) ?? 0) - 1;
      this.#jobs.set(lockExpiryMs, others);
      if (others > 0) return;
      const session = this.#current.get(lockExpiryMs);
      this.#current.delete(lockExpiryMs);
      session?.end();
      this.heartbeats().sessionsChanged();
    };
  }

  /** The session for jobs with this `lockExpiry`. It can be used once it is valid. */
  of(lockExpiryMs: number): Session {
    return this.#current.get(lockExpiryMs) ?? this.#begin(lockExpiryMs);
  }

  /** Ends the sessions under which nothing runs. The others expire by themselves. */
  stop(): void {
    const sessions = this.all;
    this.#current.clear();
    for (const session of sessions) session.end();
    this.heartbeats().sessionsChanged();
  }

  /** The heartbeat thread has ended all of them in the store, because the process ends. Returns a function for a process that lives on. */
  revoke(): () => void {
    const sessions = this.all;
    for (const session of sessions) session.revoke();
    return () => {
      for (const session of sessions) session.end();
    };
  }

  #begin(lockExpiryMs: number): Session {
    this.#count += 1;
    const { id: replicaId, clock, client } = this.context;
    const id = `${replicaId}.${this.#count}@${lockExpiryMs}`;
    const session = new Session(id, lockExpiryMs, clock, {
      unused: ({ confirmedEnd }) => {
        if (confirmedEnd === undefined) return;
        const send = () => client.store.endSession({ id, lockExpiryMs, confirmedEnd });
        // after that the session has ended by itself, or a restart of the store has given it a life and the wait covers it
        client.inBackground({ name: undefined, kind: 'session', send }, lockExpiryMs);
      },
      takeReports: () => {
        this.heartbeats().takeReports();
      },
    });
    this.#current.set(lockExpiryMs, session);
    session.signal.addEventListener('abort', () => {
      if (this.#current.get(lockExpiryMs) === session) this.#begin(lockExpiryMs);
    });
    this.heartbeats().sessionsChanged();
    return session;
  }
}
