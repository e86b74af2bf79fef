import { expect } from '@jest/globals';
import { messageOf } from '../../libs/singleton-job/src/base/errors/message-of.js';
import { type LeaseId, type Store, type StoredRecord } from '../../libs/singleton-job/src/store/store.js';
import { SuiteClient } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';

/** At least, and longer on a busy machine. */
const MIN_MS = 4_000;
const MAX_MS = 20_000;
const TTL_MS = 1_500;
const NAMES = Array.from({ length: 20 }, (_, i) => `${String(i)}:job`);

/** A lease, and until when its replica may believe that it lives. */
interface Holder {
  readonly lease: LeaseId;
  until: number;
}

/** What the clients saw, and which promises the store broke. */
class Hammered {
  readonly problems = new Set<string>();
  takes = 0;
  readonly holders = new Map<string, Holder>();
  /** The newest revision of each record that any client has seen. */
  readonly newest = new Map<string, number>();
  readonly ended = new Set<LeaseId>();
  readonly #begunAt = performance.now();

  /** Whether so much has happened that a broken promise would have shown. */
  get isEnough(): boolean {
    return this.takes > 50 && this.ended.size > 10;
  }

  isOver(): boolean {
    return performance.now() - this.#begunAt > (this.isEnough ? MIN_MS : MAX_MS);
  }
}

/**
 * Many replicas on one project at once: each takes records without a living holder, releases its own, lets its lease
 * end now and then, and sends each write twice. No record has two holders or winners or goes back, no lease lives
 * again, and no answer is an error.
 */
export async function hammer(open: () => Promise<Store>, clients = 50): Promise<void> {
  const stores = await Promise.all(Array.from({ length: clients }, open));
  const seen = new Hammered();
  try {
    await Promise.all(stores.map((store, index) => work(new SuiteClient(store), index, seen)));
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
  expect([[...seen.problems], seen.isEnough]).toEqual([[], true]);
}

async function work(client: SuiteClient, index: number, seen: Hammered): Promise<void> {
  const leaseOf = (term: number): LeaseId => `client-${String(index)}.${String(term)}@${String(TTL_MS)}`;
  for (let term = 1; !seen.isOver(); term++) {
    const own: Holder = { lease: leaseOf(term), until: 0 };
    while (!seen.isOver() && (await isKept(client, own, leaseOf(term - 1), seen).catch(unlessAnswered))) {
      // sometimes longer than the lease lives
      if (Math.random() < 0.05) await new Promise((resolve) => setTimeout(resolve, TTL_MS * 1.2));
    }
  }
}

/** Without an answer, as on a busy machine, it is not known whether the lease lives: the next one begins. */
function unlessAnswered(error: unknown): false {
  if (!/ did not answer | is not connected/.test(messageOf(error))) throw error;
  return false;
}

/** One heartbeat, and a write of one record if that is free or its own. False: the lease has ended. */
async function isKept(client: SuiteClient, own: Holder, ended: LeaseId, seen: Hammered): Promise<boolean> {
  const name = NAMES[Math.floor(Math.random() * NAMES.length)] ?? '';
  const [newestBefore, endedBefore] = [seen.newest.get(name) ?? 0, new Set(seen.ended)];
  const sentAt = performance.now();
  const keep = own.until > 0 ? { renew: [own.lease] } : { renew: [ended], grant: [own.lease] };
  const { leases, records } = await client.sync({ ...keep, read: [name] });
  for (const id of leases.keys()) if (endedBefore.has(id)) seen.problems.add(`${id} lives again`);
  const { revision, value } = (records[0] ?? { revision: 0, value: '{}' }) as StoredRecord;
  if (revision < newestBefore) seen.problems.add(`${name} went back to ${String(revision)}`);
  if (!leases.has(own.lease)) {
    seen.ended.add(own.lease);
    return false;
  }
  own.until = sentAt + TTL_MS;
  const { holder } = JSON.parse(value) as { holder?: LeaseId };
  const isOwn = holder === own.lease;
  if (holder !== undefined && !isOwn && leases.has(holder)) return true;
  if (isOwn) seen.holders.delete(name);
  const write = { name, value: isOwn ? '{}' : JSON.stringify({ holder: own.lease }), ifRevision: revision };
  const answers = await Promise.all([client.writeAll([write]), client.writeAll([write])]);
  const [written, ...more] = answers.flat().filter((record) => record !== undefined);
  if (more.length > 0) seen.problems.add(`${name} was written twice over ${String(revision)}`);
  if (written === undefined) return true;
  seen.newest.set(name, Math.max(written.revision, seen.newest.get(name) ?? 0));
  if (!isOwn) take(seen, name, own);
  return true;
}

function take(seen: Hammered, name: string, own: Holder): void {
  const now = performance.now();
  const other = seen.holders.get(name);
  if (other !== undefined && other !== own && Math.min(other.until, own.until) > now)
    seen.problems.add(`${name} has two holders: ${other.lease} and ${own.lease}`);
  seen.takes += 1;
  seen.holders.set(name, own);
}
