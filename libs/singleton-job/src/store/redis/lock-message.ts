import { type LockMessage } from '../lock-store.js';

const VERSION = 1;

/** All databases of a server share its channels: a message names its database. */
export function writeMessage({ kind, locks }: LockMessage, database: number): string {
  const packed = locks.map(({ name, holder, token }) => [name, holder, token]);
  return JSON.stringify({ version: VERSION, database, kind, locks: packed });
}

/** Undefined for anything else: every client that may use the channel can publish on it. */
export function readMessage(text: string, ownDatabase: number): LockMessage | undefined {
  const { version, database, kind, locks } = parse(text);
  if (version !== VERSION || database !== ownDatabase) return undefined;
  if ((kind !== 'granted' && kind !== 'released') || !Array.isArray(locks)) return undefined;
  return locks.every(isLock)
    ? { kind, locks: locks.map(([name, holder, token]) => ({ name, holder, token })) }
    : undefined;
}

function isLock(value: unknown): value is [string, string, number] {
  if (!Array.isArray(value)) return false;
  const [name, holder, token] = value as unknown[];
  return typeof name === 'string' && typeof holder === 'string' && Number.isSafeInteger(token);
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
