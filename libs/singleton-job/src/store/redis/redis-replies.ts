import { LockStoreError } from '../../base/errors/lock-store.error.js';
import {
  type ClaimOutcome,
  type ClaimResult,
  type Grant,
  type HeartbeatResult,
  type JobState,
  type ListedSession,
  type Refusal,
  type RefusalReason,
  type SessionId,
  type SessionResult,
} from '../lock-store.js';

const STATUSES = ['extended', 'listed-again', 'ended'] as const satisfies SessionResult['status'][];
const REASONS = ['granted', 'held', 'paused', 'outdated', 'too-early'] as const satisfies ('granted' | RefusalReason)[];
const OUTCOMES = [
  'claimed',
  'already-ours',
  'taken',
  'too-early',
  'paused',
  'not-leader',
] as const satisfies ClaimOutcome[];

/** The answer of a script, read field by field. An unexpected field throws, so that the request counts as unknown. */
export class Reply {
  readonly #script: string;
  readonly #fields: readonly unknown[];

  constructor(script: string, reply: unknown) {
    this.#script = script;
    this.#fields = Array.isArray(reply) ? reply : [reply];
  }

  number(index: number): number {
    return asInteger(this.#fields[index]) ?? this.#reject(index);
  }

  text(index: number): string {
    const field = this.#fields[index];
    return typeof field === 'string' ? field : this.#reject(index);
  }

  flag(index: number): boolean {
    const value = this.number(index);
    return value === 0 || value === 1 ? value === 1 : this.#reject(index);
  }

  oneOf<T extends string>(values: readonly T[], index: number): T {
    return values.find((value) => value === this.#fields[index]) ?? this.#reject(index);
  }

  list(index: number): Reply[] {
    const field = this.#fields[index];
    return Array.isArray(field) ? field.map((entry) => new Reply(this.#script, entry)) : this.#reject(index);
  }

  isMissing(index: number): boolean {
    return (this.#fields[index] ?? undefined) === undefined;
  }

  optionalNumber(index: number): number | undefined {
    return this.isMissing(index) ? undefined : this.number(index);
  }

  optionalText(index: number): string | undefined {
    return this.isMissing(index) ? undefined : this.text(index);
  }

  /** A stored number. A field that another program overwrote with something else counts as missing. */
  storedNumber(index: number): number | undefined {
    return asInteger(this.#fields[index]);
  }

  #reject(index: number): never {
    const got = JSON.stringify(this.#fields[index]) as string | undefined;
    throw new LockStoreError(
      'STORE_UNREACHABLE',
      `Redis sent an unexpected answer to '${this.#script}': field ${index} is ${got ?? 'missing'}`,
    );
  }
}

export function readHeartbeat(reply: Reply): HeartbeatResult {
  const runId = reply.text(2);
  return {
    storeTime: reply.number(0),
    sessions: reply.list(1).map((session) => ({ status: session.oneOf(STATUSES, 0), end: session.number(1) })),
    serverId: runId === '' ? undefined : runId,
    serverSince: reply.number(3),
    version: reply.number(4),
    nextEnd: reply.optionalNumber(5),
    changes: readList(reply.list(6)),
    isWholeList: reply.flag(7),
    listedCount: reply.number(8),
    pausesVersion: reply.number(9),
  };
}

/** `serverId` depends on the connection. */
export function readAcquire(reply: Reply): Omit<Grant, 'serverId'> | Omit<Refusal, 'serverId'> {
  const reason = reply.oneOf(REASONS, 0);
  const common = { storeTime: reply.number(1), token: reply.number(6), ...readState(reply) };
  if (reason === 'granted')
    return { granted: true, stateCreatedAt: reply.number(7), previousHolder: reply.optionalText(3), ...common };
  return {
    granted: false,
    reason,
    holder: reply.optionalText(3),
    ttlMs: reply.number(4),
    ttlRestored: reply.flag(5),
    stateCreatedAt: reply.optionalNumber(7),
    ...common,
  };
}

export function readClaim(reply: Reply): ClaimResult {
  return {
    outcome: reply.oneOf(OUTCOMES, 0),
    claimed: reply.number(1),
    holder: reply.optionalText(2),
    storeTime: reply.number(3),
    pausedAt: reply.optionalNumber(4),
  };
}

function readState(reply: Reply): JobState {
  return {
    pausedAt: reply.storedNumber(8),
    claimed: reply.storedNumber(9),
    claimedBy: reply.optionalText(10),
    handled: reply.storedNumber(11),
    slot: reply.storedNumber(12),
    runStartedAt: reply.storedNumber(13),
    runEndedAt: reply.storedNumber(14),
    schedule: reply.optionalText(15),
    lastRun: reply.optionalText(16),
  };
}

/** `fields` are session, score, session, score, and so on. */
function readList(fields: readonly Reply[]): ReadonlyMap<SessionId, ListedSession> {
  const list = new Map<SessionId, ListedSession>();
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const score = fields[i + 1]?.number(0) ?? 0;
    list.set(fields[i]?.text(0) ?? '', { hasEnded: score < 0, end: Math.abs(score) });
  }
  return list;
}

function asInteger(field: unknown): number | undefined {
  const value = typeof field === 'string' && field !== '' ? Number(field) : field;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}
