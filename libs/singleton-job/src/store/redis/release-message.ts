import { type ReleaseMessage } from '../lock-store.js';

export function writeReleaseMessage(message: ReleaseMessage): string {
  return JSON.stringify({ by: message.by, names: message.names, receivers: message.receivers });
}

/** Undefined for anything else: everybody who has the channel's name can publish on it. */
export function readReleaseMessage(text: string): ReleaseMessage | undefined {
  const value = parse(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { by, names, receivers } = value as Record<string, unknown>;
  if (typeof by !== 'string' || !isListOfStrings(names)) return undefined;
  return { by, names, receivers: typeof receivers === 'number' && receivers > 0 ? receivers : 0 };
}

function isListOfStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
