import { createInterface } from 'node:readline';

/**
 * Calls `onLine` with each complete line that a process prints, except empty ones. One read may end in the middle of a
 * line.
 */
export function eachLine(stream: NodeJS.ReadableStream | null, onLine: (line: string) => void): void {
  if (stream === null) return;
  createInterface({ input: stream }).on('line', (line) => {
    if (line !== '') onLine(line);
  });
}
