import { inspect } from 'node:util';

/** The payload of an event for JSON. Without this, JSON would drop the content of an error. */
export function payloadAsJson(payload: object): object {
  return 'error' in payload ? { ...payload, error: plain(payload.error) } : payload;
}

function plain(error: unknown): { name: string; code: unknown; message: string } {
  // not String(): it throws at an object without a prototype
  if (!(error instanceof Error)) return { name: typeof error, code: undefined, message: inspect(error) };
  return { name: error.name, code: 'code' in error ? error.code : undefined, message: error.message };
}
