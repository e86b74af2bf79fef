import { historyOf } from '../../tools/faults/history.js';
import { type Testimony } from '../../tools/faults/testimony.js';
import { type Exchange } from '../../tools/faults/wires.js';
import { type History } from './checker.js';

/** What a witness of real processes might have written down. */
export type Line = Omit<Testimony, 'atMs' | 'replica'> & Partial<Pick<Testimony, 'atMs' | 'replica'>>;

/** Lines of a record, ten milliseconds apart unless they say otherwise, all of them about `grid` on `a1`, or on `b1` with a later token. */
export function record(...lines: readonly Line[]): Testimony[] {
  return lines.map((line, index) => {
    const atMs = line.atMs ?? index * 10;
    const token = line.replica === 'b1' ? 2 : 1;
    return { replica: 'a1', job: 'grid', monoMs: atMs, token, run: 1, scheduledAt: 0, ...line, atMs };
  });
}

/** What `a1` asks Redis about `grid`, and what it is answered at once, unless it says otherwise. */
export function exchange(command: Exchange['command'], sentMs: number, other: Partial<Exchange> = {}): Exchange {
  const { process = 'a1' } = other;
  const about = { job: 'grid', process, holder: `${process}-1f#1`, words: ['1'] };
  return { command, ...about, sentMs, answeredMs: sentMs, readMs: sentMs, ...other };
}

/** A bid that is granted, for `b1` with a later token. */
export function grant(sentMs: number, process = 'a1', other: Partial<Exchange> = {}): Exchange {
  return exchange('acquire', sentMs, { process, words: ['1', process === 'b1' ? '2' : '1'], ...other });
}

export function historyFrom(record: Testimony[], exchanges: Exchange[] = []): History {
  return historyOf({ record, epochMs: 0 }, { exchanges });
}
