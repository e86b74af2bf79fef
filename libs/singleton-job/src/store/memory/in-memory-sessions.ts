import {
  type HeartbeatRequest,
  type HeartbeatResult,
  lockExpiryOf,
  lockLifeMs,
  replicaOf,
  type SessionId,
  type SessionResult,
  type SessionToKeep,
} from '../lock-store.js';
import { type ServerData, type ServerFacts, type ServerRecord, type StoredSession } from './server-data.js';

/** The same steps as the script HEARTBEAT of the Redis store. */
export function heartbeat(data: ServerData, request: HeartbeatRequest, { runId, now }: ServerFacts): HeartbeatResult {
  const { sessions, server } = data;
  const next = nextVersion(server, now);
  if (now < (server?.seen ?? 0)) shortenLives(sessions, now);
  for (const [id, { hasEnded, end }] of sessions) {
    if (hasEnded && now - end > 2 * lockLifeMs(lockExpiryOf(id))) sessions.delete(id);
  }

  const isRestart = runId !== server?.runId;
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
  data.server = { runId, since, version, seen: now };
  return {
    storeTime: now,
    sessions: results,
    serverId: runId,
    serverSince: since,
    version,
    nextEnd: nextEnd(sessions, request),
    ...changesSince(sessions, request.knownList, { since, version }),
    listedCount: sessions.size,
    pausesVersion: data.pausesVersion,
  };
}

/** The same steps as the script END_SESSION. */
export function endSession(data: ServerData, { id, confirmedEnd }: SessionToKeep, now: number): void {
  const session = data.sessions.get(id);
  if (session?.hasEnded === true) return;
  const version = nextVersion(data.server, now);
  data.sessions.set(id, { hasEnded: true, end: session?.end ?? confirmedEnd ?? now, version });
  const { runId, since = 0, seen = 0 } = data.server ?? {};
  data.server = { runId, since, version, seen };
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
