import {
  type HeartbeatRequest,
  type HeartbeatResult,
  type ListedSession,
  lockExpiryOf,
  lockLifeMs,
  replicaOf,
  SESSION_LISTED_MS,
  type SessionId,
  type SessionResult,
  type SessionToKeep,
} from '../lock-store.js';
import { type ServerData, type ServerFacts, type ServerRecord } from './server-data.js';

/** The same steps as the script HEARTBEAT of the Redis store. */
export function heartbeat(data: ServerData, request: HeartbeatRequest, { runId, now }: ServerFacts): HeartbeatResult {
  const { sessions, server } = data;
  let changes = 0;
  for (const [id, end] of sessions) {
    const listedMs = Math.max(SESSION_LISTED_MS, 2 * lockLifeMs(lockExpiryOf(id)));
    if (end < 0 && now + end > listedMs && sessions.delete(id)) changes++;
  }

  const isBreak = runId !== server?.runId;
  for (const [id, end] of sessions) {
    if (isBreak && end > 0) sessions.set(id, now + lockExpiryOf(id));
  }

  for (const [id, end] of sessions) {
    if (end < 0 || end > now) continue;
    sessions.set(id, -end);
    changes++;
  }

  const results = request.sessions.map((session) => {
    if (!sessions.has(session.id)) changes++;
    return keep(sessions, session, now);
  });

  const since = isBreak ? now : server.since;
  const version = isBreak || changes > 0 ? nextVersion(server, now) : server.version;
  data.server = { runId, since, version };
  const isKnown = request.knownList?.version === version && request.knownList.serverSince === since;
  return {
    storeTime: now,
    sessions: results,
    serverId: runId,
    serverSince: since,
    version,
    ...living(sessions, request),
    list: isKnown ? undefined : listOf(sessions),
  };
}

/** The same steps as the script END_SESSION. */
export function endSession(data: ServerData, { id, confirmedEnd }: SessionToKeep, now: number): void {
  const end = data.sessions.get(id) ?? confirmedEnd ?? now;
  if (end < 0) return;
  data.sessions.set(id, -end);
  const { runId, since = 0 } = data.server ?? {};
  data.server = { runId, since, version: nextVersion(data.server, now) };
}

/** A time, not a count: a count would repeat itself after a restart from a snapshot. */
function nextVersion(server: ServerRecord | undefined, now: number): number {
  return Math.max((server?.version ?? 0) + 1, now);
}

function keep(sessions: Map<SessionId, number>, session: SessionToKeep, now: number): SessionResult {
  const { id, lockExpiryMs, confirmedEnd } = session;
  const listed = sessions.get(id);
  if (listed !== undefined && listed < 0) return { status: 'ended', end: -listed };
  const isLost = listed === undefined && confirmedEnd !== undefined;
  // the request may be late: a newer heartbeat may have confirmed the session since
  if (isLost && confirmedEnd <= now) return { status: 'ended', end: confirmedEnd };
  const end = now + lockExpiryMs;
  sessions.set(id, end);
  return { status: isLost ? 'listed-again' : 'extended', end };
}

function living(
  sessions: ReadonlyMap<SessionId, number>,
  request: HeartbeatRequest,
): Pick<HeartbeatResult, 'liveReplicas' | 'nextEnd'> {
  const alive = [...sessions].filter(([id, end]) => end > 0 && replicaOf(id) !== undefined);
  const [own] = request.sessions;
  const expiries = new Set(request.sessions.map(({ lockExpiryMs }) => lockExpiryMs));
  const watched = alive.filter(
    ([id]) => own !== undefined && replicaOf(id) !== replicaOf(own.id) && expiries.has(lockExpiryOf(id)),
  );
  return {
    liveReplicas: new Set(alive.map(([id]) => replicaOf(id))).size,
    nextEnd: watched.length === 0 ? undefined : Math.min(...watched.map(([, end]) => end)),
  };
}

function listOf(sessions: ReadonlyMap<SessionId, number>): ReadonlyMap<SessionId, ListedSession> {
  return new Map([...sessions].map(([id, end]) => [id, { hasEnded: end < 0, end: Math.abs(end) }]));
}
