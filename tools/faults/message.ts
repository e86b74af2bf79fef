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
  /** Of an answer to a script: its first word, as '1' or 'claimed'. */
  readonly said?: string;
  /** Of an answer: when its request came by. */
  readonly askedMs?: number;
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

/** Reads the answer to a request. */
export function readAnswer(value: RespValue, bytes: Buffer, asked: Message & { readonly atMs: number }): Message {
  const { command, job, holder } = asked;
  const about = { ...(job && { job }), ...(holder && { holder }) };
  const said = Array.isArray(value) ? String((value as RespValue[])[0]) : undefined;
  return { direction: 'answer', command, ...about, ...(said && { said }), askedMs: asked.atMs, bytes };
}

/** Whether an answer says that the lock is its asker's: so it is for a claim, too, that comes too late or too early. */
export function confirmsLock({ direction, command, said }: Message): boolean {
  if (direction === 'request') return false;
  if (command === 'claim') return said !== undefined && said !== 'not-leader';
  return (command === 'acquire' || command === 'renew') && said === '1';
}
