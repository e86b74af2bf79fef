import { type Holder, type JobState, type ListedSession, type SessionId } from '../lock-store.js';

/** The data of a server. It is plain: a copy of it is a snapshot. */
export interface ServerData {
  /** The listed sessions. */
  readonly sessions: Map<SessionId, StoredSession>;
  /** The locks by name. */
  readonly locks: Map<string, Lock>;
  /** The state of each job beside its lock, by name. */
  readonly states: Map<string, State>;
  /** Grows whenever a pause has begun or ended. */
  pausesVersion: number;
  /** The server as the last heartbeat saw it. Undefined: there was no heartbeat yet. */
  server: ServerRecord | undefined;
}

export interface StoredSession extends ListedSession {
  /** The version of the list in which it was listed or ended. */
  readonly version: number;
}

export interface ServerRecord {
  readonly runId: string | undefined;
  readonly since: number;
  readonly version: number;
  /** The time of the last heartbeat. */
  readonly seen: number;
}

export interface Lock {
  readonly holder: Holder;
  /** The last millisecond of its life. Undefined: it lives for ever. */
  readonly expiresAt: number | undefined;
}

export interface State extends Partial<JobState> {
  readonly token?: number;
  readonly stateCreatedAt?: number;
  readonly expiresAt?: number | undefined;
}

/** What a step needs besides the data. */
export interface ServerFacts {
  readonly runId: string;
  readonly now: number;
}

export function emptyData(): ServerData {
  return { sessions: new Map(), locks: new Map(), states: new Map(), pausesVersion: 0, server: undefined };
}
