import {
  type HandOverMessage,
  type JobCommandReply,
  type JobCommandRequest,
  type LockMessage,
  type OfferMessage,
  type SessionsEndedMessage,
  type StoreMessage,
} from './lock-store.js';

const VERSION = 1;
const ACTIONS = ['trigger', 'step-down', 'pause', 'resume'] as const satisfies JobCommandRequest['action'][];
const OUTCOMES = ['done', 'running', 'lease-unconfirmed'] as const satisfies JobCommandReply['outcome'][];

/** A message as it was parsed. Every client that may use the channel can publish on it. */
type Fields = Readonly<Record<string, unknown>>;

/** All databases of a server share its channels: a message names its database. */
export function writeMessage(message: StoreMessage, database: number): string {
  return JSON.stringify({ version: VERSION, database, ...packed(message) });
}

/** Undefined for anything else, such as a message of another version. */
export function readMessage(text: string, ownDatabase: number): StoreMessage | undefined {
  const fields = parse(text);
  if (fields['version'] !== VERSION || fields['database'] !== ownDatabase) return undefined;
  switch (fields['kind']) {
    case 'granted':
    case 'released':
      return readLocks(fields['kind'], fields);
    case 'sessions-ended':
      return readSessions(fields);
    case 'request':
      return readRequest(fields);
    case 'reply':
      return readReply(fields);
    case 'offer':
    case 'bid':
      return readOffer(fields['kind'], fields);
    case 'hand-over':
      return readHandOver(fields);
    default:
      return undefined;
  }
}

function packed(message: StoreMessage): object {
  if (!('locks' in message)) return message;
  const { kind, locks } = message;
  return { kind, locks: locks.map(({ name, holder, token }) => [name, holder, token]) };
}

function readLocks(kind: LockMessage['kind'], { locks }: Fields): LockMessage | undefined {
  if (!Array.isArray(locks) || !locks.every(isLock)) return undefined;
  return { kind, locks: locks.map(([name, holder, token]) => ({ name, holder, token })) };
}

function readSessions({ sessions }: Fields): SessionsEndedMessage | undefined {
  const isList = Array.isArray(sessions) && sessions.every((session) => typeof session === 'string');
  return isList ? { kind: 'sessions-ended', sessions } : undefined;
}

function readRequest({ id, action, name, expiresAt }: Fields): JobCommandRequest | undefined {
  const known = ACTIONS.find((each) => each === action);
  if (known === undefined || typeof id !== 'string' || typeof name !== 'string' || !isInteger(expiresAt)) {
    return undefined;
  }
  return { kind: 'request', id, action: known, name, expiresAt };
}

function readReply({ id, replicaId, outcome, run }: Fields): JobCommandReply | undefined {
  const known = OUTCOMES.find((each) => each === outcome);
  if (known === undefined || typeof id !== 'string' || typeof replicaId !== 'string') return undefined;
  const { fencingToken, startedAt } = Object(run) as Fields;
  const started = isInteger(fencingToken) && isInteger(startedAt) ? { fencingToken, startedAt } : null;
  return { kind: 'reply', id, replicaId, outcome: known, run: started };
}

function readOffer(kind: OfferMessage['kind'], fields: Fields): OfferMessage | undefined {
  const { id, replicaId, leading, names } = fields;
  if (typeof id !== 'string' || typeof replicaId !== 'string' || !isInteger(leading)) return undefined;
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) return undefined;
  return { kind, id, replicaId, leading, names };
}

function readHandOver({ replicaId, terms }: Fields): HandOverMessage | undefined {
  if (typeof replicaId !== 'string' || !Array.isArray(terms)) return undefined;
  const read = terms.map((term) => Object(term) as Fields);
  const known = read.flatMap(({ name, token }) =>
    typeof name === 'string' && isInteger(token) ? [{ name, token }] : [],
  );
  return known.length === terms.length ? { kind: 'hand-over', replicaId, terms: known } : undefined;
}

function isLock(value: unknown): value is [string, string, number] {
  if (!Array.isArray(value)) return false;
  const [name, holder, token] = value as unknown[];
  return typeof name === 'string' && typeof holder === 'string' && isInteger(token);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function parse(text: string): Fields {
  try {
    return Object(JSON.parse(text)) as Fields;
  } catch {
    return {};
  }
}
