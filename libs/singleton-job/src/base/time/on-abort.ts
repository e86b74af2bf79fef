/** Calls `act` when `signal` aborts, now if it has aborted already, until the returned function is called. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  signal.addEventListener('abort', act);
  if (signal.aborted) act();
  return signal.removeEventListener.bind(signal, 'abort', act);
}
