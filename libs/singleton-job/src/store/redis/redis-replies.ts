import { LockStoreError } from '../../errors/index.js';
import { type ClaimAnswer, type ClaimOutcome, type Grant, type Refusal } from '../lock-store.js';

const OUTCOMES: readonly string[] = ['claimed', 'mine', 'taken', 'too-early', 'not-leader'] satisfies ClaimOutcome[];

/** The answer of a script, read field by field. What is not as expected rejects, and so says nothing about the lock. */
export class Reply {
  readonly #script: string;
  readonly #fields: readonly unknown[];

  constructor(script: string, reply: unknown) {
    this.#script = script;
    this.#fields = Array.isArray(reply) ? reply : [reply];
  }

  number(index: number): number {
    const field = this.#fields[index];
    const value = typeof field === 'string' && field !== '' ? Number(field) : field;
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : this.#refuse(index);
  }

  text(index: number): string {
    const field = this.#fields[index];
    return typeof field === 'string' ? field : this.#refuse(index);
  }

  flag(index: number): boolean {
    const value = this.number(index);
    return value === 0 || value === 1 ? value === 1 : this.#refuse(index);
  }

  outcome(index: number): ClaimOutcome {
    const text = this.text(index);
    return OUTCOMES.includes(text) ? (text as ClaimOutcome) : this.#refuse(index);
  }

  #refuse(index: number): never {
    const got = JSON.stringify(this.#fields[index]) as string | undefined;
    throw new LockStoreError(
      'STORE_UNREACHABLE',
      `Redis answered '${this.#script}' with something that is no answer: field ${index} is ${got ?? 'missing'}`,
    );
  }
}

export function readBid(reply: Reply): Grant | Refusal {
  return reply.flag(0) ? readGrant(reply) : readRefusal(reply);
}

export function readClaim(reply: Reply): ClaimAnswer {
  return { outcome: reply.outcome(0), last: reply.number(1), time: reply.number(2) };
}

function readGrant(reply: Reply): Grant {
  const endAgeMs = reply.number(5);
  return {
    granted: true,
    token: reply.number(1),
    last: reply.number(2),
    ran: reply.number(3),
    by: reply.text(4),
    endAgeMs: endAgeMs < 0 ? undefined : endAgeMs,
    born: reply.number(6),
    time: reply.number(7),
    raisedFrom: readReplaced(reply),
  };
}

/** `last|ran|schedule|hasChanged|by`, or nothing. */
function readReplaced(reply: Reply): Grant['raisedFrom'] {
  const text = reply.text(8);
  if (text === '') return undefined;
  const fields = text.split('|');
  const replaced = new Reply('acquire', fields);
  // whoever claimed may have a | in the name of its node
  const by = fields.slice(4).join('|');
  const [last, ran, schedule] = [replaced.number(0), replaced.number(1), replaced.text(2)];
  return { last, ran, schedule, hasChanged: replaced.flag(3), by };
}

function readRefusal(reply: Reply): Refusal {
  return {
    granted: false,
    holder: reply.text(1),
    ttlMs: Math.max(reply.number(2), 0),
    token: reply.number(3),
    last: reply.number(4),
    ran: reply.number(5),
    born: reply.number(6),
    time: reply.number(7),
    mended: reply.flag(8),
    schedule: reply.text(9),
  };
}
