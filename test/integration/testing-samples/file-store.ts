import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type CasRequest,
  type Incarnation,
  type LeaseId,
  ttlOf,
  type Store,
  type StoredRecord,
  type StoreListener,
  type SyncRequest,
  type SyncResult,
} from 'nestjs-singleton-job/store';

interface State {
  noted: Incarnation;
  /** When each lease ends. */
  readonly leases: Map<LeaseId, number>;
  readonly records: Map<string, StoredRecord & { readonly forgetAt?: number | undefined }>;
}

/** At one moment. `server`: which server this is. */
interface Seen extends State {
  readonly time: number;
  readonly server: string;
}

const NOT_NOTED: Incarnation = { id: '', since: 0, isFirst: false };

/** So many old versions stay: a file name is never used again while a process may still want to make it. */
const KEPT = 100;

/**
 * Leases and records of one project in a folder on the disk of one machine. Each change makes the file of the next
 * version, `17.json`, and of all who make the same version one succeeds.
 */
export class FileStore implements Store {
  readonly name = 'files';
  readonly #listeners = new Set<StoreListener>();
  #phase: 'new' | 'open' | 'closed' = 'new';
  /** Requests are carried out in the order in which they were sent. */
  #last: Promise<unknown> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;

  constructor(
    private readonly folder: string,
    private readonly now = Date.now,
  ) {}

  sync({ isNewcomer, renew, grant, revoke, read }: SyncRequest): Promise<SyncResult> {
    return this.#request((seen) => {
      const { time, server, leases } = seen;
      const records = read.map((name) => recordOf(seen, name));
      const isOfServer = () => seen.noted.id.startsWith(`${server}/`);
      if (renew.length + grant.length > 0 && !isOfServer())
        seen.noted = { id: `${server}/${time}`, since: time, isFirst: seen.noted.id === '' && isNewcomer };
      for (const [id, end] of leases) {
        if (end <= time) leases.delete(id);
        else leases.set(id, Math.min(end, time + ttlOf(id))); // the clock was set back
      }
      for (const id of [...renew.filter((one) => leases.has(one)), ...grant]) leases.set(id, time + ttlOf(id));
      for (const id of revoke) leases.delete(id);
      const remaining = new Map([...leases].map(([id, end]) => [id, end - time]));
      return { time, incarnation: isOfServer() ? seen.noted : NOT_NOTED, leases: remaining, records };
    });
  }

  compareAndSet({ incarnation, until, writes }: CasRequest): Promise<(number | undefined)[]> {
    return this.#request((seen) => {
      const { time, server, noted, records } = seen;
      if (noted.id !== incarnation || !incarnation.startsWith(`${server}/`) || time >= until)
        return writes.map(() => undefined);
      for (const [name, { forgetAt = Infinity }] of records) if (forgetAt <= time) records.delete(name);
      return writes.map(({ name, ifRevision, value, forgetAfterMs = Infinity }) => {
        const record = recordOf(seen, name);
        if (record === 'unreadable' || (record?.revision ?? 0) !== ifRevision) return undefined;
        const revision = Math.max(ifRevision + 1, time);
        records.set(name, { revision, value, forgetAt: forgetAfterMs < Infinity ? time + forgetAfterMs : undefined });
        return revision;
      });
    });
  }

  addListener(listener: StoreListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  open(): void {
    if (this.#phase !== 'new') return;
    this.#phase = 'open';
    this.#last = this.#connect();
  }

  async close(): Promise<void> {
    this.#phase = 'closed';
    this.#listeners.clear();
    clearTimeout(this.#retry);
    await this.#last;
  }

  async #connect(): Promise<void> {
    try {
      await mkdir(this.folder, { recursive: true });
      await (await open(join(this.folder, 'server'), 'a')).close();
      for (const listener of this.#listeners) listener.connected?.();
    } catch (error: unknown) {
      for (const listener of this.#listeners) listener.disconnected?.(error as Error);
      if (this.#phase === 'open') this.#retry = setTimeout(() => void this.#connect(), 1_000);
    }
  }

  #request<T>(step: (seen: Seen) => T): Promise<T> {
    const answer = this.#last.then(() => this.#carryOut(step));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async #carryOut<T>(step: (seen: Seen) => T): Promise<T> {
    while (this.#phase === 'open') {
      const version = Math.max(0, ...(await this.#versions()));
      const state = version === 0 ? EMPTY : await readFile(this.#file(version), 'utf8').catch(() => undefined);
      if (state === undefined) continue; // too old by now
      // a copy of the folder has another time of the last change of this file, whatever its other times say
      const { ino, ctimeMs } = await stat(join(this.folder, 'server'));
      const seen: Seen = { ...parse(state), time: this.now(), server: `${ino}-${ctimeMs}` };
      const answer = step(seen);
      const next = toText(seen);
      if (next === state || (await this.#write(version + 1, next))) return answer;
      await delay(5 * Math.random());
    }
    throw new Error('the store is not open');
  }

  /** False: another process has made this version. */
  async #write(version: number, text: string): Promise<boolean> {
    const file = join(this.folder, `${randomUUID()}.tmp`);
    try {
      await writeFile(file, text, { flush: true });
      await link(file, this.#file(version));
    } catch (error: unknown) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(file, { force: true });
    }
    const versions = await this.#versions();
    const oldest = Math.max(...versions) - KEPT;
    // this process stood still so long that the version was made and removed before
    if (version < oldest) throw new Error('whether the request was carried out is unknown');
    for (const old of versions) if (old < oldest) await rm(this.#file(old), { force: true });
    return true;
  }

  async #versions(): Promise<number[]> {
    const names = await readdir(this.folder);
    return names.filter((name) => /^\d+\.json$/.test(name)).map((name) => parseInt(name, 10));
  }

  #file(version: number): string {
    return join(this.folder, `${version}.json`);
  }
}

function toText({ noted, leases, records }: State): string {
  return JSON.stringify({ noted, leases: [...leases], records: [...records] });
}

const EMPTY = toText({ noted: NOT_NOTED, leases: new Map(), records: new Map() });

function parse(text: string): State {
  const { noted, leases, records } = JSON.parse(text) as Record<keyof State, never>;
  return { noted, leases: new Map(leases), records: new Map(records) };
}

function recordOf({ records, time }: Seen, name: string): StoredRecord | 'unreadable' | undefined {
  const record = records.get(name);
  if (record === undefined || (record.forgetAt ?? Infinity) <= time) return undefined;
  const { revision, value } = record;
  return typeof revision === 'number' && typeof value === 'string' ? { revision, value } : 'unreadable';
}
