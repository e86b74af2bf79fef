import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { Listeners } from '../listeners.js';
import { readMessage, writeMessage } from '../lock-message.js';
import {
  type AcquireRequest,
  type AcquireResult,
  type ClaimRequest,
  type ClaimResult,
  type HeartbeatRequest,
  type HeartbeatResult,
  type LockMessage,
  type LockOverview,
  type LockStore,
  type LockStoreListener,
  type ReleaseRequest,
  type ReleaseResult,
  type RenewRequest,
  type RenewResult,
  type SessionToKeep,
  type SetPausedRequest,
  type SetPausedResult,
  type StoreMessage,
} from '../lock-store.js';
import { type Answer, type LockStep, PostgresBatch } from './postgres-batch.js';
import { postgresClient, type PostgresConnectionOptions, type ReadPostgresConnection } from './postgres-clients.js';
import { isQueueFull, postgresError, sqlState } from './postgres-errors.js';
import { PostgresLane, type Query } from './postgres-lane.js';
import { PostgresSubscription } from './postgres-subscription.js';
import { LATEST, postgresMigrations } from './postgres-schema.js';
import { readAcquire, readClaim, readHeartbeat, readLock, readRenew, readSetPaused } from './postgres-replies.js';

export interface PostgresLockStoreOptions {
  /** First part of the key of every row. */
  readonly projectName: string;
  readonly connection: PostgresConnectionOptions;
  /** Called for each new client. @default every client has `connection` */
  readonly readConnection?: ReadPostgresConnection | undefined;
  /** Where the tables and functions are. @default 'singleton_job' */
  readonly schema?: string | undefined;
  /** Whether the store creates what is missing in the schema. @default true */
  readonly migrate?: boolean | undefined;
  /** False: messages are not received, and all requests go by one connection. Enough for heartbeats. @default true */
  readonly subscribes?: boolean;
  /** For the delays between two attempts to connect. In [0, 1). @default Math.random */
  readonly random?: () => number;
}

/** A notification has less than 8,000 bytes. */
const MOST_BYTES = 7_900;
const OLDEST_SERVER = 130_000;
const MIGRATION_ATTEMPTS = 20;
/** All replicas of the database share a channel. */
const DATABASE = 0;

/** Sessions and locks in PostgreSQL 13 or later. */
export class PostgresLockStore implements LockStore {
  readonly name = 'PostgreSQL';
  readonly #project: string;
  readonly #schema: string;
  readonly #migrates: boolean;
  readonly #channel: string;
  readonly #listeners = new Listeners();
  readonly #heartbeats: PostgresLane;
  /** A lane of its own, so that nothing that waits for the row of a lock delays a heartbeat. */
  readonly #locks: PostgresLane | undefined;
  readonly #batch = new PostgresBatch((steps) => this.#runSteps(steps));
  readonly #subscription: PostgresSubscription | undefined;
  #role: string | undefined;

  constructor(options: PostgresLockStoreOptions) {
    const { projectName, connection, schema = 'singleton_job', migrate = true, subscribes = true } = options;
    const { readConnection = () => Promise.resolve(connection), random = Math.random } = options;
    this.#project = projectName;
    this.#schema = schema;
    this.#migrates = migrate;
    // a channel is a name, of at most 63 bytes
    this.#channel = `singleton_job_${createHash('md5').update(`${schema}:${projectName}`).digest('hex')}`;
    const lane = {
      create: async () => postgresClient(await readConnection()),
      toError: (error: unknown, step?: string) => this.#error(error, step),
      random,
    };
    this.#heartbeats = new PostgresLane({
      ...lane,
      prepare: (query) => this.#prepare(query),
      onReady: () => {
        this.#locks?.open();
        this.#subscription?.open();
        this.#listeners.each((listener) => listener.connected?.());
      },
      onLost: (error) => {
        this.#locks?.drop(error);
        this.#listeners.each((listener) => listener.disconnected?.(error));
      },
    });
    if (!subscribes) return;
    this.#locks = new PostgresLane(lane);
    this.#subscription = new PostgresSubscription({
      channel: this.#channel,
      listeners: this.#listeners,
      lane,
      notify: (payload) => this.#notify(payload),
      onMessage: (payload) => {
        const message = readMessage(payload, DATABASE);
        if (message !== undefined) this.#listeners.each((listener) => listener.message?.(message));
      },
    });
  }

  get isSubscribed(): boolean {
    return this.#subscription?.isSubscribed === true;
  }

  async heartbeat({ sessions, knownList }: HeartbeatRequest): Promise<HeartbeatResult> {
    const kept = sessions.map(({ id, lockExpiryMs, confirmedEnd }) => ({ id, expiry: lockExpiryMs, confirmedEnd }));
    const values = [this.#project, knownList?.version, knownList?.serverSince, JSON.stringify(kept)];
    return readHeartbeat(await this.#call(this.#heartbeats, 'heartbeat', '$1, $2, $3, $4', values));
  }

  async endSession({ id, confirmedEnd }: SessionToKeep): Promise<void> {
    await this.#call(this.#heartbeats, 'end_session', '$1, $2, $3', [this.#project, id, confirmedEnd]);
  }

  async acquire({ heartbeat, ...request }: AcquireRequest): Promise<AcquireResult> {
    const { serverId, serverSince } = heartbeat ?? {};
    const reference = serverId === undefined ? {} : { serverId, serverSince };
    return readAcquire(await this.#batch.add({ op: 'acquire', ...request, ...reference }));
  }

  async renew(request: RenewRequest): Promise<RenewResult> {
    return readRenew(await this.#batch.add({ op: 'renew', ...request }));
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    return readClaim(await this.#batch.add({ op: 'claim', ...request }));
  }

  async release({ token, ...request }: ReleaseRequest): Promise<ReleaseResult> {
    const { name, holder } = request;
    const message = writeMessage({ kind: 'released', locks: [{ name, holder, token }] }, DATABASE);
    const { held, storeTime } = readRenew(await this.#batch.add({ op: 'release', ...request, message }));
    return { released: held, storeTime };
  }

  async setPaused(request: SetPausedRequest): Promise<SetPausedResult> {
    return readSetPaused(await this.#batch.add({ op: 'setPaused', ...request }));
  }

  async readLocks(names: readonly string[]): Promise<readonly LockOverview[]> {
    const s = `"${this.#schema}"`;
    const rows = await this.#laneOfLocks().query(
      'overview',
      `SELECT CASE WHEN coalesce(expires_at >= ${s}.now_1(), true) THEN holder END AS holder, last_run AS "lastRun",
        paused_at::double precision AS "pausedAt"
        FROM unnest($2::text[]) WITH ORDINALITY AS wanted (name, place)
        LEFT JOIN ${s}.locks ON locks.project = $1 AND locks.name = wanted.name ORDER BY place`,
      [this.#project, names],
    );
    return rows.map(readLock);
  }

  async publish(message: StoreMessage): Promise<void> {
    for (const part of partsOf(message)) await this.#notify(part);
  }

  addListener(listener: LockStoreListener): () => void {
    return this.#listeners.add(listener);
  }

  open(): void {
    this.#heartbeats.open();
  }

  async close(): Promise<void> {
    await Promise.all([this.#heartbeats.close(), this.#locks?.close(), this.#subscription?.close()]);
  }

  async #runSteps(steps: readonly LockStep[]): Promise<readonly (Answer | null)[]> {
    // whole numbers only: a time of a run may have a fraction
    const written = JSON.stringify(steps, (_key, value: unknown) =>
      typeof value === 'number' ? Math.round(value) : value,
    );
    const call = (channel: string | null) =>
      this.#call(this.#laneOfLocks(), 'locks', '$1, $2, $3', [this.#project, written, channel]);
    try {
      return (await call(this.#channel)) as readonly (Answer | null)[];
    } catch (error: unknown) {
      if (!(error instanceof LockStoreError) || !isQueueFull(error.cause)) throw error;
      // nothing was carried out; the locks matter more than their messages
      return (await call(null)) as readonly (Answer | null)[];
    }
  }

  #laneOfLocks(): PostgresLane {
    return this.#locks?.isReady === true ? this.#locks : this.#heartbeats;
  }

  async #call(lane: PostgresLane, step: string, args: string, values: readonly unknown[]): Promise<unknown> {
    const [row] = await lane.query(step, `SELECT "${this.#schema}".${step}_1(${args}) AS answer`, values);
    return row?.['answer'];
  }

  async #notify(payload: string): Promise<void> {
    await this.#laneOfLocks().query('notify', 'SELECT pg_notify($1, $2)', [this.#channel, payload]);
  }

  /** Checks the server on each new connection, and creates what is missing. */
  async #prepare(query: Query): Promise<void> {
    const [server] = await query(
      `SELECT current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS standby, current_user AS role,
        EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS "hasSchema"`,
      [this.#schema],
    );
    const { version, standby, role, hasSchema } = server ?? {};
    this.#role = String(role);
    if (Number(version) < OLDEST_SERVER)
      throw misconfigured('This server is too old: the library needs PostgreSQL 13 or later');
    if (standby === true) throw new Error('this server is a standby: connect to the primary');
    for (let attempt = 1; !(await this.#isComplete(query, hasSchema === true)); attempt++) {
      if (!this.#migrates) {
        const fix = 'run the SQL of postgresMigrations() as its owner, or drop migrate: false';
        throw misconfigured(`The schema ${this.#schema} is not complete: ${fix}`);
      }
      try {
        await query(postgresMigrations(this.#schema));
        return;
      } catch (error: unknown) {
        if (sqlState(error) === '42501') throw this.#cannotMigrate(error);
        // another replica migrates, or somebody reads the tables
        if (sqlState(error) !== '55P03' || attempt === MIGRATION_ATTEMPTS) throw error;
        await delay(50);
      }
    }
  }

  async #isComplete(query: Query, hasSchema: boolean): Promise<boolean> {
    if (!hasSchema) return false;
    try {
      const [row] = await query(`SELECT max(number) AS number FROM "${this.#schema}".migrations`);
      return Number(row?.['number'] ?? 0) >= LATEST;
    } catch (error: unknown) {
      if (sqlState(error) === '42P01') return false;
      throw error;
    }
  }

  #cannotMigrate(error: unknown): LockStoreError {
    const fix =
      'run the SQL of postgresMigrations() as an owner of the database and set migrate: false, ' +
      `or GRANT CREATE ON DATABASE … TO "${this.#role ?? ''}"`;
    return misconfigured(`The role ${this.#role ?? ''} may not create the schema ${this.#schema}: ${fix}`, error);
  }

  #error(error: unknown, step?: string): LockStoreError {
    const request = { schema: this.#schema, role: this.#role };
    return step === undefined
      ? postgresError(error, { ...request, wasSent: false })
      : postgresError(error, { ...request, step });
  }
}

function misconfigured(message: string, cause?: unknown): LockStoreError {
  return new LockStoreError('STORE_MISCONFIGURED', message, { cause, wasSent: false, affectsAllJobs: true });
}

/** Splits a message about many locks, so that each part fits into a notification. */
function partsOf(message: StoreMessage): readonly string[] {
  const text = writeMessage(message, DATABASE);
  if (!isAboutLocks(message) || message.locks.length < 2 || Buffer.byteLength(text) <= MOST_BYTES) return [text];
  const half = Math.ceil(message.locks.length / 2);
  const { kind, locks } = message;
  return [locks.slice(0, half), locks.slice(half)].flatMap((some) => partsOf({ kind, locks: some }));
}

function isAboutLocks(message: StoreMessage): message is LockMessage {
  return 'locks' in message;
}
