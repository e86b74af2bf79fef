import { SCRIPTS } from '../../libs/singleton-job/src/lock/scripts.js';
import { type RespValue } from './resp.js';

export type ScriptName = 'acquire' | 'renew' | 'claim' | 'release';

/** What passes between a replica and Redis, in the words of the library. */
export interface Message {
  readonly direction: 'request' | 'answer';
  /** A script of the library by its name, another command by its own. */
  readonly command: string;
  /** Of a script: the job whose lock it is about, and the holder that asks. */
  readonly job?: string;
  readonly holder?: string;
  /** Of an answer to a script: its words, the first one as '1' or 'claimed'. */
  readonly words?: readonly string[];
  /** Of an answer: the request. */
  readonly to?: Message;
  readonly bytes: Buffer;
}

/** Reads a request as a replica wrote it. */
export function readRequest(value: RespValue, bytes: Buffer): Message {
  const [command = '', script, , lock, , holder] = Array.isArray(value) ? (value as RespValue[]).map(String) : [];
  const known = SCRIPTS.find(({ sha, source }) => script === sha || script === source);
  const isRun = /^eval(sha)?$/i.test(command);
  if (known === undefined || !isRun) return { direction: 'request', command: command.toLowerCase(), bytes };
  const job = /^[^:]+:(.+):lock$/.exec(lock ?? '')?.[1];
  return { direction: 'request', command: known.name, bytes, ...(job && { job }), ...(holder && { holder }) };
}

/** Reads the answer to a request. What is no list, as an error, has no words. */
export function readAnswer(value: RespValue, bytes: Buffer, to: Message): Message {
  const { command, job, holder } = to;
  const about = { ...(job && { job }), ...(holder && { holder }) };
  const words = Array.isArray(value) ? { words: (value as RespValue[]).map(String) } : {};
  return { direction: 'answer', command, ...about, ...words, to, bytes };
}
