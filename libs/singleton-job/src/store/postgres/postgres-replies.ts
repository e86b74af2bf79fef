import { LockStoreError } from '../../base/errors/lock-store.error.js';
import {
  type AcquireResult,
  type ClaimOutcome,
  type ClaimResult,
  type HeartbeatResult,
  type JobState,
  type LockOverview,
  type RefusalReason,
  type RenewResult,
  type SessionId,
  type SessionResult,
  type SetPausedResult,
} from '../lock-store.js';
import { type Answer } from './postgres-batch.js';

/** What `heartbeat_1` returns. */
interface HeartbeatAnswer {
  readonly now: number;
  readonly sessions: readonly (readonly [SessionResult['status'], number])[];
  readonly serverId: string;
  readonly since: number;
  readonly version: number;
  readonly pauses: number;
  readonly isWhole: boolean;
  readonly count: number;
  readonly nextEnd: number | null;
  readonly list: readonly (readonly [SessionId, boolean, number])[];
}

export function readHeartbeat(answer: unknown): HeartbeatResult {
  if (typeof answer !== 'object' || answer === null) throw unexpected('heartbeat', answer);
  const { now, sessions, serverId, since, version, pauses, isWhole, count, nextEnd, list } = answer as HeartbeatAnswer;
  return {
    storeTime: now,
    sessions: sessions.map(([status, end]) => ({ status, end })),
    serverId,
    serverSince: since,
    version,
    nextEnd: nextEnd ?? undefined,
    changes: new Map(list.map(([id, hasEnded, end]) => [id, { hasEnded, end }])),
    isWholeList: isWhole,
    listedCount: count,
    pausesVersion: pauses,
  };
}

export function readAcquire(answer: Answer): AcquireResult {
  const common = {
    storeTime: number(answer, 'now'),
    token: number(answer, 'token'),
    serverId: undefined,
    ...readState(answer),
  };
  const reason = optionalText(answer, 'reason') as RefusalReason | undefined;
  const holder = optionalText(answer, 'holder');
  const stateCreatedAt = optionalNumber(answer, 'createdAt');
  if (reason === undefined)
    return { granted: true, stateCreatedAt: number(answer, 'createdAt'), previousHolder: holder, ...common };
  const ttlRestored = answer['ttlRestored'] === true;
  return { granted: false, reason, holder, ttlMs: number(answer, 'ttlMs'), ttlRestored, stateCreatedAt, ...common };
}

export function readRenew(answer: Answer): RenewResult {
  return { held: answer['held'] === true, ...readSetPaused(answer) };
}

export function readClaim(answer: Answer): ClaimResult {
  const outcome = (optionalText(answer, 'outcome') ?? 'not-leader') as ClaimOutcome;
  return { outcome, claimed: number(answer, 'claimed'), ...readSetPaused(answer) };
}

export function readSetPaused(answer: Answer): SetPausedResult {
  return {
    holder: optionalText(answer, 'holder'),
    pausedAt: optionalNumber(answer, 'pausedAt'),
    storeTime: number(answer, 'now'),
  };
}

export function readLock(row: Answer): LockOverview {
  return {
    holder: optionalText(row, 'holder'),
    lastRun: optionalText(row, 'lastRun'),
    pausedAt: optionalNumber(row, 'pausedAt'),
  };
}

function readState(answer: Answer): JobState {
  return {
    claimed: optionalNumber(answer, 'claimed'),
    claimedBy: optionalText(answer, 'claimedBy'),
    handled: optionalNumber(answer, 'handled'),
    slot: optionalNumber(answer, 'slot'),
    runStartedAt: optionalNumber(answer, 'runStartedAt'),
    runEndedAt: optionalNumber(answer, 'runEndedAt'),
    lastRun: optionalText(answer, 'lastRun'),
    schedule: optionalText(answer, 'schedule'),
    pausedAt: optionalNumber(answer, 'pausedAt'),
  };
}

function optionalText(answer: Answer, field: string): string | undefined {
  const value = answer[field] ?? undefined;
  if (value !== undefined && typeof value !== 'string') throw unexpected(field, value);
  return value;
}

function optionalNumber(answer: Answer, field: string): number | undefined {
  return (answer[field] ?? undefined) === undefined ? undefined : number(answer, field);
}

/** An unexpected answer throws, so that the request counts as unknown. */
function number(answer: Answer, field: string): number {
  const value = answer[field];
  if (typeof value !== 'number') throw unexpected(field, value);
  return value;
}

function unexpected(field: string, value: unknown): LockStoreError {
  return new LockStoreError(
    'STORE_UNREACHABLE',
    `PostgreSQL sent an unexpected answer: ${field} is ${JSON.stringify(value)}`,
  );
}
