import { createInterface } from 'node:readline';

/** Tells each line that a process prints, whole: what is read at once may end in the middle of one. Empty ones are left out. */
export function eachLine(stream: NodeJS.ReadableStream | null, tell: (line: string) => void): void {
  if (stream === null) return;
  createInterface({ input: stream }).on('line', (line) => {
    if (line !== '') tell(line);
  });
}
