import { type Clock } from '../../base/time/clock.js';
import {
  type HeartbeatRequest,
  type HeartbeatResult,
  type Holder,
  type JobState,
  type ListedSession,
  lockExpiryOf,
  lockLifeMs,
  replicaOf,
  type SessionId,
  type SessionResult,
  type SessionToKeep,
} from '../lock-store.js';

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
  readonly serverId: string | undefined;
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

export function emptyData(): ServerData {
  return { sessions: new Map(), locks: new Map(), states: new Map(), pausesVersion: 0, server: undefined };
}

/** The sessions of a server in the memory of this process. */
export class InMemorySessions {
  protected data = emptyData();
  /** Each start of the server has an id of its own. */
  protected starts = 1;

  constructor(private readonly clock: Clock) {}

  heartbeat(request: HeartbeatRequest): HeartbeatResult {
    const { data, serverId } = this;
    const { sessions, server } = data;
    const now = this.now();
    const next = nextVersion(server, now);
    if (now < (server?.seen ?? 0)) shortenLives(sessions, now);
    for (const [id, { hasEnded, end }] of sessions) {
      if (hasEnded && now - end > 2 * lockLifeMs(lockExpiryOf(id))) sessions.delete(id);
    }

    const isRestart = serverId !== server?.serverId;
    for (const [id, session] of sessions) {
      if (isRestart && !session.hasEnded) sessions.set(id, { ...session, end: now + lockExpiryOf(id) });
    }

    for (const [id, { hasEnded, end }] of sessions) {
      if (!hasEnded && end <= now) sessions.set(id, { hasEnded: true, end, version: next });
    }

    const results = request.sessions.map((session) => keep(sessions, session, { now, next }));
    const since = isRestart ? now : server.since;
    const hasChanged = [...sessions.values()].some((session) => session.version === next);
    const version = hasChanged ? next : (server?.version ?? 0);
    data.server = { serverId, since, version, seen: now };
    return {
      storeTime: now,
      sessions: results,
      serverId,
      serverSince: since,
      version,
      nextEnd: nextEnd(sessions, request),
      ...changesSince(sessions, request.knownList, { since, version }),
      listedCount: sessions.size,
      pausesVersion: data.pausesVersion,
    };
  }

  endSession({ id, confirmedEnd }: SessionToKeep): void {
    const { sessions, server } = this.data;
    const session = sessions.get(id);
    if (session?.hasEnded === true) return;
    const now = this.now();
    const version = nextVersion(server, now);
    sessions.set(id, { hasEnded: true, end: session?.end ?? confirmedEnd ?? now, version });
    const { serverId, since = 0, seen = 0 } = server ?? {};
    this.data.server = { serverId, since, version, seen };
  }

  protected get serverId(): string {
    return `in-memory-${this.starts}`;
  }

  protected now(): number {
    return Math.floor(this.clock.wallNow());
  }
}

/** A time, not a count: a count would repeat itself after a restart from a snapshot. */
function nextVersion(server: ServerRecord | undefined, now: number): number {
  return Math.max((server?.version ?? 0) + 1, now);
}

/** The clock was set back: no end is later than a heartbeat of now would set it. */
function shortenLives(sessions: Map<SessionId, StoredSession>, now: number): void {
  for (const [id, session] of sessions) {
    const latest = session.hasEnded ? now : now + lockExpiryOf(id);
    sessions.set(id, { ...session, end: Math.min(session.end, latest) });
  }
}

function keep(
  sessions: Map<SessionId, StoredSession>,
  { id, lockExpiryMs, confirmedEnd }: SessionToKeep,
  { now, next }: { readonly now: number; readonly next: number },
): SessionResult {
  const listed = sessions.get(id);
  if (listed?.hasEnded === true) return { status: 'ended', end: listed.end };
  const isLost = listed === undefined && confirmedEnd !== undefined;
  // the request may be late: a newer heartbeat may have confirmed the session since
  if (isLost && confirmedEnd <= now) return { status: 'ended', end: confirmedEnd };
  const end = now + lockExpiryMs;
  sessions.set(id, { hasEnded: false, end, version: listed?.version ?? next });
  return { status: isLost ? 'listed-again' : 'extended', end };
}

function nextEnd(
  sessions: ReadonlyMap<SessionId, StoredSession>,
  { sessions: [own, ...others] }: HeartbeatRequest,
): number | undefined {
  if (own === undefined) return undefined;
  const expiries = new Set([own, ...others].map(({ lockExpiryMs }) => lockExpiryMs));
  const ends = [...sessions]
    .filter(([id, { hasEnded }]) => !hasEnded && ![undefined, replicaOf(own.id)].includes(replicaOf(id)))
    .filter(([id]) => expiries.has(lockExpiryOf(id)))
    .map(([, { end }]) => end);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

function changesSince(
  sessions: ReadonlyMap<SessionId, StoredSession>,
  known: HeartbeatRequest['knownList'],
  { since, version }: { readonly since: number; readonly version: number },
): Pick<HeartbeatResult, 'changes' | 'isWholeList'> {
  const isWholeList = known === undefined || known.serverSince !== since || known.version > version;
  const changed = [...sessions].filter(([, session]) => isWholeList || session.version > known.version);
  return { isWholeList, changes: new Map(changed.map(([id, { hasEnded, end }]) => [id, { hasEnded, end }])) };
}
