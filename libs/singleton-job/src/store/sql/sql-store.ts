import { hintText, namesIn } from '../hints.js';
import { ServerStore, type ServerStoreOptions } from '../server-store.js';
import {
  type CasRequest,
  type Incarnation,
  type LeaseId,
  lifeOf,
  type SyncRequest,
  type SyncResult,
  type Write,
} from '../store.js';
import { type Dialect, type Query, type SqlSession, type SqlValue } from './sql-session.js';

const RECORDS = 'FROM singleton_job_records WHERE project = ?';
const LEASES = 'FROM singleton_job_leases WHERE project = ?';

/** The record that keeps the last hint. Those of jobs and locks have a colon in their names. */
const HINT = 'hint';
/** How often to look at it. */
const LOOK_EVERY_MS = 1_000;

/** No request that keeps a lease has come to this server yet. */
const NOT_NOTED: Incarnation = { id: '', since: 0, isFirst: false };

/** What a transaction finds: the clock, which server answers, and what is noted. */
interface Found {
  readonly time: number;
  readonly here: string;
  readonly incarnation: Incarnation;
}

/**
 * Leases and records in tables, by plain statements. A request is a transaction that locks its own rows, then reads the
 * clock, then decides. Rows that another replica has locked are left as they are.
 */
export abstract class SqlStore<O extends ServerStoreOptions<unknown>, S extends SqlSession> extends ServerStore<O, S> {
  protected readonly project = this.options.projectName;
  /** The revision of the last hint that was read: it counts them. */
  #hint = 0;

  async publish(names: readonly string[] | '*'): Promise<void> {
    const text = JSON.stringify(hintText(names));
    await this.requests.send('publish', ({ dialect, single }) => {
      const change = `INSERT INTO singleton_job_records VALUES ? ${dialect.orUpdate} revision = revision + 1, value = ?`;
      return single(change, [[this.project, HINT, 1, text, null]], text);
    });
  }

  async compareAndSet({ incarnation, until, writes }: CasRequest): Promise<readonly (number | undefined)[]> {
    const write = async (query: Query, dialect: Dialect): Promise<(number | undefined)[] | null> => {
      const names = writes.map(({ name }) => name);
      const there = await query(`SELECT name ${RECORDS} AND name IN (?)`, this.project, names);
      const lock = `SELECT name, revision, forget_at AS forgetAt ${RECORDS} AND name IN (?) ORDER BY name`;
      const own = await query(`${lock} ${dialect.skipLocked}`, this.project, names);
      const { time, here, incarnation: noted } = await this.#find(query, dialect);
      if (noted.id !== incarnation || !isOf(noted, here) || time >= until) return null;

      // undefined: another replica has locked it
      const revisions = new Map<string, number | undefined>(there.map(({ name }) => [name, undefined]));
      for (const { name, revision, forgetAt } of own) revisions.set(name, (forgetAt ?? Infinity) > time ? revision : 0);
      const isDue = ({ name, ifRevision }: Write): boolean =>
        ifRevision === (revisions.has(name) ? revisions.get(name) : 0);
      const revisionOf = ({ ifRevision }: Write): number => Math.max(ifRevision + 1, time);
      const rowOf = (write: Write): SqlValue => {
        const { name, value, forgetAfterMs } = write;
        const forgetAt = forgetAfterMs === undefined ? null : time + forgetAfterMs;
        return [this.project, name, revisionOf(write), value, forgetAt];
      };
      const due = new Set(writes.filter(isDue));
      const rows = (isThere: boolean): readonly SqlValue[] =>
        [...due].filter(({ name }) => revisions.has(name) === isThere).map(rowOf);
      await query('REPLACE INTO singleton_job_records VALUES ?', rows(true));
      // fails if another replica has done the same meanwhile
      const isInserted = await query('INSERT INTO singleton_job_records VALUES ?', rows(false)).then(
        Boolean,
        async (error: unknown) => {
          if (!dialect.isLocked(error)) throw error;
          // fails where the server has ended the whole transaction: innodb_rollback_on_timeout
          await query('RELEASE SAVEPOINT begun');
          return false;
        },
      );
      if (writes.some(({ forgetAfterMs }) => forgetAfterMs !== undefined)) await this.#forget(query, dialect, time);
      const isWritten = (write: Write): boolean => due.has(write) && (isInserted || revisions.has(write.name));
      return writes.map((write) => (isWritten(write) ? revisionOf(write) : undefined));
    };
    return (await this.#transaction('write', write, until)) ?? writes.map(() => undefined);
  }

  protected override ready(): void {
    super.ready();
    if (this.options.subscribes === false) return;
    this.listeners.listening(true);
    void this.#keepLooking(this.requests.session);
  }

  /** A replica that has missed one looks at everything. What fails here fails the next request too. */
  protected async lookForHint(): Promise<void> {
    const last = `SELECT revision, value ${RECORDS} AND name = ?`;
    const [hint] = (await this.requests.session?.single(last, this.project, HINT).catch(() => undefined)) ?? [];
    const before = this.#hint;
    // after a wipe the count begins again
    this.#hint = hint?.revision ?? 0;
    if (hint === undefined || hint.revision === before) return;
    const names = hint.revision === before + 1 ? hintIn(hint.value) : '*';
    this.listeners.each((listener) => listener.hint?.(names));
  }

  protected sendSync({ isNewcomer, renew, grant, revoke, read }: SyncRequest): Promise<SyncResult> {
    return this.#transaction('sync', async (query, dialect) => {
      const { project } = this;
      // before the leases: the lease of a holder that is read here cannot be missing there because it is new
      const living = `name IN (?) AND (forget_at IS NULL OR forget_at > ${dialect.now})`;
      const found = await query(`SELECT name, revision, value ${RECORDS} AND ${living}`, project, read);
      const records = new Map(found.map(({ name, revision, value }) => [name, { revision, value }]));
      if (renew.length + grant.length > 0) await this.#note(query, dialect, isNewcomer);
      const own = [...renew, ...grant, ...revoke].sort();
      // one by one: for a list of keys MySQL may read all rows of the project, and waits for those that are locked
      for (const id of own) await query(`SELECT id ${LEASES} AND id = ? ${dialect.forUpdate}`, project, id);
      const { time, here, incarnation: noted } = await this.#find(query, dialect);
      const incarnation = isOf(noted, here) ? noted : NOT_NOTED;
      const rows = await query(`SELECT id, ends_at AS endsAt ${LEASES}`, project);
      const ends = new Map(rows.map(({ id, endsAt }) => [id, endsAt]));

      const { over, long } = await this.#wrong(query, dialect, ends, time);
      const kept = [...renew.filter((id) => (ends.get(id) ?? 0) > time), ...grant].filter((id) => !revoke.includes(id));
      const changes = new Map([...long, ...kept.map((id) => [id, time + lifeOf(id)] as const)]);
      const gone = [...over, ...revoke];
      for (const id of gone) await query(`DELETE ${LEASES} AND id = ?`, project, id);
      const changed = [...changes].map(([id, end]) => [project, id, end]);
      await query('REPLACE INTO singleton_job_leases VALUES ?', changed);
      for (const id of gone) ends.delete(id);
      for (const [id, end] of changes) ends.set(id, end);
      // one that has ended is there only if its row is locked: a renewal under way lasts for one more life at most
      const there = [...ends].filter(([id, end]) => end > time - lifeOf(id));
      const leases = new Map(there.map(([id, end]) => [id, Math.max(Math.min(end - time, lifeOf(id)), 0)]));
      return { time, incarnation, leases, records: read.map((name) => records.get(name)) };
    });
  }

  async #keepLooking(session: S | undefined): Promise<void> {
    if (session === undefined || session !== this.requests.session) return;
    await this.lookForHint();
    setTimeout(() => void this.#keepLooking(session), LOOK_EVERY_MS).unref();
  }

  /** A statement about an empty list is not sent. */
  #transaction<T>(request: string, task: (query: Query, dialect: Dialect) => Promise<T>, until?: number): Promise<T> {
    const isEmpty = (value: SqlValue): boolean => Array.isArray(value) && value.length === 0;
    return this.requests.send(request, (session) =>
      session.transaction(
        (query) => task(async (sql, ...values) => (values.some(isEmpty) ? [] : query(sql, ...values)), session.dialect),
        until,
      ),
    );
  }

  async #find(query: Query, { now, server: here }: Dialect): Promise<Found> {
    const noted = '(SELECT 1) one LEFT JOIN singleton_job_incarnations ON project = ?';
    const columns = `${now} AS time, ${here} AS here, server, since, is_first AS isFirst`;
    const [row] = await query(`SELECT ${columns} FROM ${noted}`, this.project);
    if (row === undefined) throw new Error('no clock');
    const { server, since, isFirst } = row;
    const id = server === null ? '' : `${server}/${since}`;
    return { time: row.time, here: row.here, incarnation: { id, since: since ?? 0, isFirst: isFirst === 1 } };
  }

  async #note(query: Query, dialect: Dialect, isNewcomer: boolean): Promise<void> {
    const { time, here, incarnation } = await this.#find(query, dialect);
    if (isOf(incarnation, here)) return;
    const change = 'UPDATE singleton_job_incarnations SET server = ?, since = ?, is_first = 0 WHERE project = ?';
    // another replica may do the same meanwhile: one that comes second fails, or changes nothing
    if (incarnation.id !== '') await query(`${change} AND server <> ?`, here, time, this.project, here);
    else
      await query('INSERT INTO singleton_job_incarnations VALUES ?', [[this.project, here, time, Number(isNewcomer)]]);
  }

  /** Leases that have ended, and new ends of those that would live longer than their life: the clock was set back. */
  async #wrong(query: Query, { now, skipLocked }: Dialect, ends: ReadonlyMap<LeaseId, number>, time: number) {
    const ids = [...ends].filter(([id, end]) => end <= time || end > time + lifeOf(id)).map(([id]) => id);
    const locked = `SELECT id, ends_at AS endsAt, ${now} AS time ${LEASES} AND id IN (?) ORDER BY id ${skipLocked}`;
    const rows = await query(locked, this.project, ids);
    const over = rows.filter(({ endsAt }) => endsAt <= time).map(({ id }) => id);
    // by a clock that was read later: another replica may have renewed its lease since
    const long = rows.filter((row) => row.endsAt > row.time + lifeOf(row.id));
    return { over, long: long.map((row) => [row.id, row.time + lifeOf(row.id)] as const) };
  }

  async #forget(query: Query, { skipLocked }: Dialect, time: number): Promise<void> {
    const over = await query(`SELECT name ${RECORDS} AND forget_at <= ? LIMIT 20 ${skipLocked}`, this.project, time);
    for (const { name } of over) await query(`DELETE ${RECORDS} AND name = ?`, this.project, name);
  }
}

/** What another program has written may mean anything. */
function hintIn(value: string): readonly string[] | '*' {
  try {
    return namesIn(String(JSON.parse(value)));
  } catch {
    return '*';
  }
}

function isOf({ id }: Incarnation, server: string): boolean {
  return id.startsWith(`${server}/`);
}
