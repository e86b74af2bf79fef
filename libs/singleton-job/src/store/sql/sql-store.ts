import { untraced } from '../../base/time/untraced.js';
import { hintText, namesIn } from '../hints.js';
import { ServerStore, type ServerStoreOptions } from '../server-store.js';
import {
  type CasRequest,
  type Incarnation,
  type LeaseId,
  ttlOf,
  type SyncRequest,
  type SyncResult,
  type Write,
} from '../store.js';
import { type Dialect, type Row, type Send, type SqlSession, type SqlValue, type Statement } from './sql-session.js';

const RECORDS = 'FROM singleton_job_records WHERE project = ?';
const LEASES = 'FROM singleton_job_leases WHERE project = ?';

/** The record that keeps the last hint. Those of jobs and locks have a colon in their names. */
const HINT = 'hint';
/** How often to read it, and how soon again if a request is under way. */
const READ_HINT_EVERY_MS = 1_000;
const READ_HINT_AGAIN_MS = 100;

/** No request that keeps a lease has come to this server yet. */
const NOT_NOTED: Incarnation = { id: '', since: 0, isFirst: false };

/** What a request finds: the clock, which server answers, and what is noted, of this server or of another. */
interface ServerState {
  readonly time: number;
  readonly serverId: string;
  readonly noted: Incarnation;
}

/**
 * Leases and records in tables, by plain statements. Those that need no answer of each other are sent together, because
 * a round trip may be long. What is decided here is about rows that are locked, by a clock that is read after that.
 * Rows that another replica has locked are left as they are.
 */
export abstract class SqlStore<O extends ServerStoreOptions<unknown>, S extends SqlSession> extends ServerStore<O, S> {
  protected readonly project = this.options.projectName;
  /** The revision of the last hint that was read: it counts them. */
  #hint = 0;

  async publish(names: readonly string[] | '*'): Promise<void> {
    const text = JSON.stringify(hintText(names));
    await this.requests.send('publish', ({ dialect, statement }) => {
      const change = `INSERT INTO singleton_job_records VALUES ? ${dialect.orUpdate} revision = revision + 1, value = ?`;
      return statement(change, [[this.project, HINT, 1, text, null]], text);
    });
  }

  compareAndSet({ incarnation, until, writes }: CasRequest): Promise<readonly (number | undefined)[]> {
    const { project } = this;
    return this.#request('write', async (send, dialect) => {
      const { begin, commit, rollback, skipLocked } = dialect;
      const names = writes.map(({ name }) => name);
      const lock = `SELECT name, revision, forget_at AS forgetAt ${RECORDS} AND name IN (?) ORDER BY name ${skipLocked}`;
      const [existing = [], locked = [], [row] = []] = await send(
        ...begin,
        [`SELECT name ${RECORDS} AND name IN (?)`, project, names],
        [lock, project, names],
        this.#readState(dialect),
        // after the locks, so that they stay
        ['SAVEPOINT seen'],
      );
      const { time, serverId, noted } = stateOf(row);
      if (noted.id !== incarnation || !isOf(noted, serverId) || time >= until) {
        await send(...rollback);
        return writes.map(() => undefined);
      }

      const { changed, made } = dueWrites(writes, existing, locked, time);
      const revisionOf = ({ ifRevision }: Write): number => Math.max(ifRevision + 1, time);
      const rowOf = (write: Write): SqlValue => {
        const { name, value, forgetAfterMs } = write;
        const forgetAt = forgetAfterMs === undefined ? null : time + forgetAfterMs;
        return [project, name, revisionOf(write), value, forgetAt];
      };
      const mayForget = writes.some(({ forgetAfterMs }) => forgetAfterMs !== undefined);
      const changes: readonly Statement[] = [
        ...(mayForget ? await this.#forget(send, dialect, time) : []),
        ['REPLACE INTO singleton_job_records VALUES ?', changed.map(rowOf)],
      ];
      const make: Statement = ['INSERT INTO singleton_job_records VALUES ?', made.map(rowOf)];
      const isMade = await send(...changes, make, ...commit(until)).then(Boolean, async (error: unknown) => {
        // another replica is making the same
        if (made.length === 0 || !dialect.isLocked(error)) throw error;
        // fails where the server has ended the whole transaction: innodb_rollback_on_timeout
        await send(['ROLLBACK TO SAVEPOINT seen'], ...changes, ...commit(until));
        return false;
      });
      const written = new Set(isMade ? [...changed, ...made] : changed);
      return writes.map((write) => (written.has(write) ? revisionOf(write) : undefined));
    });
  }

  protected override ready(): void {
    super.ready();
    if (this.options.subscribes === false) return;
    this.listeners.listening(true);
    void this.#pollHint(this.requests.session);
  }

  /** What fails here fails the next request too. */
  protected async readHint(): Promise<void> {
    const last = `SELECT revision, value ${RECORDS} AND name = ?`;
    const read = untraced(() => this.requests.session?.statement(last, this.project, HINT));
    const found = await read?.catch(() => undefined);
    if (found !== undefined) this.#deliver(found[0]);
  }

  protected async sendSync(request: SyncRequest): Promise<SyncResult> {
    const { isNewcomer, renew, grant, read } = request;
    const { project } = this;
    const names = this.options.subscribes === false ? read : [...read, HINT];
    const { contents, ...result } = await this.#request('sync', async (send, dialect) => {
      const wanted = `name IN (?) AND (forget_at IS NULL OR forget_at > ${dialect.now})`;
      const [contents = [], [row] = [], rows = []] = await send(
        ...dialect.begin,
        // before the leases: the lease of a holder that is read here cannot be missing there because it is new
        [`SELECT name, revision, value ${RECORDS} AND ${wanted}`, project, names],
        ...this.#changes(request, dialect),
        this.#readState(dialect),
        [`SELECT id, ends_at AS endsAt ${LEASES}`, project],
        ...dialect.commit(),
      );
      const found = stateOf(row);
      const keeps = renew.length + grant.length > 0;
      const notes = keeps && !isOf(found.noted, found.serverId) ? [this.#note(found, dialect, isNewcomer)] : [];
      const ends = new Map(rows.map(({ id, endsAt }) => [id, endsAt]));
      const { time, serverId, noted } = await this.#correct(found, ends, notes, send, dialect);
      // one that has ended is there only if this request could not remove it: another one has locked its row, or was
      // faster. A renewal under way lasts for one more TTL at most
      const renewalMs = (id: LeaseId): number => (renew.includes(id) ? 0 : ttlOf(id));
      const living = [...ends].filter(([id, end]) => end > time - renewalMs(id));
      const leases = new Map(living.map(([id, end]) => [id, Math.max(Math.min(end - time, ttlOf(id)), 0)]));
      return { contents, time, incarnation: isOf(noted, serverId) ? noted : NOT_NOTED, leases };
    });
    const records = new Map(contents.map(({ name, revision, value }) => [name, { revision, value }]));
    this.#deliver(records.get(HINT));
    return { ...result, records: read.map((name) => records.get(name)) };
  }

  async #pollHint(session: S | undefined): Promise<void> {
    if (session === undefined || session !== this.requests.session) return;
    const { isBusy } = session;
    // it would wait, and what comes after it too; a sync reads the hint as well
    if (!isBusy) await this.readHint();
    setTimeout(() => void this.#pollHint(session), isBusy ? READ_HINT_AGAIN_MS : READ_HINT_EVERY_MS).unref();
  }

  /** Passes on a hint that was read. A replica that has missed one reads everything. */
  #deliver(hint: Pick<Row, 'revision' | 'value'> | undefined): void {
    const before = this.#hint;
    // after a wipe the count begins again
    this.#hint = hint?.revision ?? 0;
    if (hint === undefined || hint.revision === before) return;
    const names = hint.revision === before + 1 ? hintIn(hint.value) : '*';
    this.listeners.each((listener) => listener.hint?.(names));
  }

  #request<T>(request: string, task: (send: Send, dialect: Dialect) => Promise<T>): Promise<T> {
    return this.requests.send(request, (session) => session.request(() => task(session.send, session.dialect)));
  }

  #readState({ now, server: serverId }: Dialect): Statement {
    const fields = `${now} AS time, ${serverId} AS serverId, server, since, is_first AS isFirst`;
    const noted = '(SELECT 1) one LEFT JOIN singleton_job_incarnations ON project = ?';
    return [`SELECT ${fields} FROM ${noted}`, this.project];
  }

  #note({ serverId, noted }: ServerState, { now }: Dialect, isNewcomer: boolean): Statement {
    // another replica may do the same meanwhile: one that comes second fails, or changes nothing
    const make = `INSERT INTO singleton_job_incarnations VALUES (?, ?, ${now}, ?)`;
    if (noted.id === '') return [make, this.project, serverId, Number(isNewcomer)];
    const change = `UPDATE singleton_job_incarnations SET server = ?, since = ${now}, is_first = 0`;
    return [`${change} WHERE project = ? AND server <> ?`, serverId, this.project, serverId];
  }

  /**
   * One by one: for a list of keys MySQL may read all rows of the project, and waits for those that are locked. Each
   * reads the clock when it has its row.
   */
  #changes({ renew, grant, revoke }: SyncRequest, { now }: Dialect): readonly Statement[] {
    const { project } = this;
    const extend = `UPDATE singleton_job_leases SET ends_at = ${now} + ? WHERE project = ? AND id = ? AND ends_at > ${now}`;
    const make = `REPLACE INTO singleton_job_leases VALUES (?, ?, ${now} + ?)`;
    return [
      ...renew.map((id): Statement => [extend, ttlOf(id), project, id]),
      ...grant.map((id): Statement => [make, project, id, ttlOf(id)]),
      ...revoke.map((id): Statement => [`DELETE ${LEASES} AND id = ?`, project, id]),
    ];
  }

  /**
   * Carries out `notes`, removes leases that have ended, and shortens those that would live longer than their TTL: the
   * clock was set back. Mostly there is none of it. `ends` are those of all leases, and are brought up to date.
   */
  async #correct(
    found: ServerState,
    ends: Map<LeaseId, number>,
    notes: readonly Statement[],
    send: Send,
    dialect: Dialect,
  ): Promise<ServerState> {
    const isExpiredOrOverlong = ([id, end]: readonly [LeaseId, number]): boolean =>
      end <= found.time || end > found.time + ttlOf(id);
    const expiredOrOverlong = [...ends].filter(isExpiredOrOverlong).map(([id]) => id);
    if (notes.length + expiredOrOverlong.length === 0) return found;
    const lock = `SELECT id, ends_at AS endsAt ${LEASES} AND id IN (?) ORDER BY id ${dialect.skipLocked}`;
    const [locked = [], [row] = []] = await send(
      ...dialect.begin,
      ...notes,
      [lock, this.project, expiredOrOverlong],
      this.#readState(dialect),
    );
    const after = stateOf(row);
    const { time } = after;
    // another replica may have renewed its lease since
    const changes = locked.map(({ id, endsAt }): Statement => {
      const end = Math.min(endsAt, time + ttlOf(id));
      ends.set(id, end);
      if (end > time)
        return ['UPDATE singleton_job_leases SET ends_at = ? WHERE project = ? AND id = ?', end, this.project, id];
      ends.delete(id);
      return [`DELETE ${LEASES} AND id = ?`, this.project, id];
    });
    await send(...changes, ...dialect.commit());
    return after;
  }

  /** Removes records that may be forgotten. */
  async #forget(send: Send, { skipLocked }: Dialect, time: number): Promise<readonly Statement[]> {
    const expired = `SELECT name ${RECORDS} AND forget_at <= ? LIMIT 20 ${skipLocked}`;
    const [rows = []] = await send([expired, this.project, time]);
    return rows.map(({ name }): Statement => [`DELETE ${RECORDS} AND name = ?`, this.project, name]);
  }
}

function stateOf(row: Row | undefined): ServerState {
  if (row === undefined) throw new Error('no clock');
  const { time, serverId, server, since, isFirst } = row;
  const id = server === null ? '' : `${server}/${since}`;
  return { time, serverId, noted: { id, since: since ?? 0, isFirst: isFirst === 1 } };
}

/** The writes whose record has the revision that they name: of records that are there, and of new ones. */
function dueWrites(
  writes: readonly Write[],
  existing: readonly Row[],
  locked: readonly Row[],
  time: number,
): Readonly<Record<'changed' | 'made', readonly Write[]>> {
  // undefined: another replica has locked it
  const revisions = new Map<string, number | undefined>(existing.map(({ name }) => [name, undefined]));
  for (const { name, revision, forgetAt } of locked) revisions.set(name, (forgetAt ?? Infinity) > time ? revision : 0);
  const due = writes.filter(({ name, ifRevision }) => ifRevision === (revisions.has(name) ? revisions.get(name) : 0));
  return {
    changed: due.filter(({ name }) => revisions.has(name)),
    made: due.filter(({ name }) => !revisions.has(name)),
  };
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
