/** The payload of an event as JSON can carry it: of an error JSON would leave nothing. */
export function told(payload: object): object {
  return 'error' in payload ? { ...payload, error: plain(payload.error) } : payload;
}

function plain(error: unknown): { name: string; code: unknown; message: string } {
  if (!(error instanceof Error)) return { name: typeof error, code: undefined, message: String(error) };
  return { name: error.name, code: 'code' in error ? error.code : undefined, message: error.message };
}
