import { type Open } from '../../test/support/checker.js';
import { type Message, type ScriptName } from './message.js';
import { monotonicMs } from './monotonic.js';

/** A script that a replica had Redis run, as its wire showed it. Times are the witness's own. */
export interface Exchange {
  readonly command: ScriptName;
  readonly job: string;
  readonly holder: string;
  /** Whose holder value it is. */
  readonly process: string;
  /** When the request came by, and the answer of Redis; undefined if none did. */
  readonly sentMs: number;
  readonly answeredMs?: number;
  /** When the answer was passed on to the replica; undefined if it was lost. */
  readonly readMs?: number;
  readonly words?: readonly string[];
}

/** Writes down what replicas and Redis say to each other, without a word of the replicas themselves. */
export class Wires {
  readonly exchanges: Exchange[] = [];
  readonly #open = new WeakMap<Message, Open<Exchange>>();

  /** A message has come by; what becomes of it is not known yet. */
  readonly comes = (message: Message): void => {
    const { command, job, holder, words, to } = message;
    const exchange = this.#open.get(to ?? message);
    if (exchange !== undefined) Object.assign(exchange, { answeredMs: monotonicMs(), ...(words && { words }) });
    if (to !== undefined || job === undefined || holder === undefined) return;
    const [process = ''] = holder.split('-');
    const asked = { command: command as ScriptName, job, holder, process, sentMs: monotonicMs() };
    this.#open.set(message, asked);
    this.exchanges.push(asked);
  };

  /** A message goes on its way to whom it is meant for, this very moment. */
  readonly passes = ({ to }: Message): void => {
    const exchange = to && this.#open.get(to);
    if (exchange !== undefined) exchange.readMs = monotonicMs();
  };
}

/** Whether Redis said that the lock is its asker's, or was until this release; undefined if it said neither yes nor no. */
export function isYes({ command, words: [word] = [] }: Exchange): boolean | undefined {
  if (word === undefined) return undefined;
  // a claim that comes too late or too early comes from the holder all the same
  return command === 'claim' ? word !== 'not-leader' : word === '1';
}
