import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { observedRecord } from '../../libs/singleton-job/src/leadership/record.js';
import { openFiles } from '../../libs/singleton-job/src/store/sqlite/open-files.js';
import {
  type DatabaseConstructor,
  loadSqlite,
  SqliteFile,
} from '../../libs/singleton-job/src/store/sqlite/sqlite-file.js';
import { SqliteStore, type SqliteStoreOptions } from '../../libs/singleton-job/src/store/sqlite/sqlite-store.js';
import { describeStore } from '../../libs/singleton-job/src/testing/store-suite/describe-store.js';
import { A, B, NAME } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';
import { until } from '../../tools/replicas/until.js';
import { hammer } from './hammer.js';
import { closeOpened, isListening, open, type OpenStore, saying } from './reporting-store.js';
import { SetBackClock } from './set-back-clock.js';

/** Windows deletes no file that is open. */
const itDeletes = process.platform === 'win32' ? it.skip : it;
/** Only Linux tells which files a process has open. */
const itSeesOpenFiles = process.platform === 'linux' ? it : it.skip;

// on macOS a link leads to it
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'singleton-job-')));
afterAll(() => {
  // an antivirus may still read a file
  rmSync(folder, { recursive: true, maxRetries: 5 });
});

const newFile = () => join(folder, `${randomUUID()}.db`);
const newStore = (file: string, options: Partial<SqliteStoreOptions> = {}) =>
  new SqliteStore({ connection: `sqlite:${file}`, projectName: 'shop', ...options });

/** The file as another program of this process opens it. */
const openHere = async (file: string) => new (await loadSqlite())(file);

describeStore(
  { describe, it },
  {
    name: 'the SQLite store',
    makeFixture: () => {
      const file = newFile();
      const clock = new SetBackClock();
      return {
        newStore: () => clock.giveTo(newStore(file)),
        newStoreOfOtherProject: () => newStore(file, { projectName: 'other' }),
        restart: async () => {
          const database = await openHere(file);
          database.exec(`PRAGMA user_version = ${String(randomInt(1, 2 ** 31))}`);
          database.close();
        },
        loseData: async () => {
          const database = await openHere(file);
          database.exec('PRAGMA busy_timeout = 1000');
          const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
          for (const { name } of tables) database.exec(`DELETE FROM ${String(name)}`);
          database.close();
        },
        setClockBack: (ms) => clock.setBack(ms),
      };
    },
  },
);

/** A store on a SQLite that differs. */
function storeOn(Database: DatabaseConstructor): SqliteStore {
  class OtherStore extends SqliteStore {
    protected override async newSession(...args: Parameters<SqliteStore['newSession']>): Promise<SqliteFile> {
      const session = await super.newSession(...args);
      session.end();
      return new SqliteFile(Database, session['parts']);
    }
  }
  return new OtherStore({ connection: `sqlite:${newFile()}`, projectName: 'shop' });
}

const OTHER_PROCESS = `const database = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
  process.on('message', (statement) => process.send(database.exec(statement) ?? 'done'));`;

/** Another process that has the file open. Its end is a crash, so its files stay. */
async function openElsewhere(file: string) {
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
  const other = spawn(process.execPath, ['--no-warnings', '--eval', OTHER_PROCESS, file], { stdio: [...stdio] });
  const exec = async (statement: string) => {
    other.send(statement);
    await once(other, 'message');
  };
  await exec('SELECT name FROM sqlite_master');
  const end = async (): Promise<void> => {
    other.kill('SIGKILL');
    await once(other, 'exit');
  };
  return { exec, [Symbol.asyncDispose]: end };
}

/** A store that is connected and listens. */
async function listen(file: string): Promise<OpenStore<SqliteStore>> {
  const opened = open(newStore(file));
  await isListening(opened);
  return opened;
}

const isAnswered = ({ replica }: OpenStore) => replica.sync({ grant: [A] }).then(Boolean, () => false);

describe('SQLite', () => {
  afterEach(closeOpened);

  it('keeps its promises to many replicas at once', async () => {
    const file = newFile();
    // each write waits for the disk
    await hammer(async () => (await listen(file)).store, 10);
  });

  it('passes on a hint at once, and once, and none for a heartbeat of another process', async () => {
    const file = newFile();
    const [a, b] = [await listen(file), await listen(file)];
    await a.store.publish(['x:job', 'y:job']);
    // a file that is not watched is looked at once a second
    await until('the hint arrives', () => b.hints.length > 0, { withinMs: 900 });
    for (let i = 0; i < 5; i++) await a.replica.sync({ grant: [A] });
    const other = await openHere(file);
    // a hint, and another one over it
    other.exec("UPDATE singleton_job_records SET revision = revision + 2 WHERE name = 'hint'");
    await until('the next one arrives', () => b.hints.length > 1);
    expect(b.hints).toEqual([['x:job', 'y:job'], '*']);
    other.close();
  });

  it('passes on a hint within a second, with a warning, where the system reports no changes', async () => {
    const Database = await loadSqlite();
    /** Another file, so that the one to watch does not exist. */
    class Elsewhere extends Database {
      constructor(path: string) {
        super(`${path}.elsewhere`);
      }
    }
    const { store, hints, warnings, disconnected } = open(storeOn(Elsewhere));
    await store.publish(['x:job']);
    await until('the hint arrives', () => hints.length > 0, { withinMs: 1_500 });
    expect(warnings).toContainEqual(saying('HINTS_NOT_DELIVERED', 'ENOENT'));
    expect(disconnected).toEqual([]);
  });

  it('never waits for a file that another process has locked, and answers when it is free', async () => {
    const file = newFile();
    const { replica, disconnected } = await listen(file);
    const other = await openHere(file);
    other.exec('BEGIN IMMEDIATE');
    const late = replica.sync();
    const startedAt = performance.now();
    await delay(20);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    other.exec('ROLLBACK');
    await expect(late).resolves.toMatchObject({ records: [] });
    other.exec('BEGIN IMMEDIATE');
    await expect(replica.sync()).rejects.toThrow(`Another process keeps ${file} locked: end its transaction`);
    expect(disconnected).toEqual([]);
    other.close();
  });

  it('loses records that may be forgotten, as others are written', async () => {
    const file = newFile();
    const { replica: a } = await listen(file);
    await a.sync({ grant: [A] });
    await a.put('{}', undefined, { name: 'order-1:lock', forgetAfterMs: 1 });
    await delay(5);
    await a.put('{}', undefined, { name: 'order-2:lock', forgetAfterMs: 60_000 });
    const database = await openHere(file);
    expect(database.prepare('SELECT name FROM singleton_job_records').all()).toEqual([{ name: 'order-2:lock' }]);
    database.close();
  });

  it('answers about other records when one has a revision that is no number of JavaScript', async () => {
    const file = newFile();
    const { replica: a } = await listen(file);
    await a.sync({ grant: [A] });
    const [, good] = [await a.put(), await a.put('{}', undefined, { name: 'good:job' })];
    await using other = await openElsewhere(file);
    await other.exec(`UPDATE singleton_job_records SET revision = ~(1 << 63) WHERE name = '${NAME}'`);
    const [bad, ...records] = await a.read(NAME, 'good:job');
    expect(records).toEqual([good]);
    expect(observedRecord(bad)).toMatchObject({ isUnreadable: true });
    await a.put('{}', good, { name: 'good:job' });
  });

  it('has no transaction open while anything else happens in the process', async () => {
    const file = newFile();
    const { replica } = await listen(file);
    const other = await openHere(file);
    let wasLocked = false;
    const look = () => {
      try {
        other.exec('BEGIN IMMEDIATE; ROLLBACK');
      } catch {
        wasLocked = true;
      }
    };
    const answers = [replica.sync({ grant: [A] }), replica.sync()];
    const turns = setInterval(look);
    await answers[0];
    // what follows from the first answer may block
    for (let step = 0; step < 100; step++) {
      look();
      await Promise.resolve();
    }
    await answers[1];
    clearInterval(turns);
    other.close();
    expect(wasLocked).toBe(false);
  });

  itDeletes('takes a file that is deleted or replaced for another server', async () => {
    const file = newFile();
    const opened = await listen(file);
    const { replica } = opened;
    const first = await replica.sync({ isNewcomer: true, grant: [A] });
    copyFileSync(file, `${file}.old`);
    renameSync(`${file}.old`, file);
    const message = `SQLite did not answer 'sync': the file ${file} was deleted or replaced`;
    await expect(replica.sync({ grant: [A] })).rejects.toThrow(message);
    await isListening(opened);
    const second = await replica.sync({ grant: [A] });
    expect(second.incarnation.isFirst).toBe(false);
    expect(second.incarnation.id).not.toBe(first.incarnation.id);
  });

  itDeletes.each([[['-wal']], [['-shm']], [['-wal', '-shm']]])(
    'sees what other processes see soon after %j are deleted, also beside an idle session',
    async (ends) => {
      const file = newFile();
      // as the heartbeat thread has it
      const idle = open(newStore(file, { subscribes: false }));
      const { replica } = await listen(file);
      await idle.replica.sync();
      for (const end of ends) rmSync(file + end);
      await expect(replica.sync()).rejects.toThrow(`the file ${file}${ends[0]} was deleted or replaced. Let no`);
      await until('it is connected', () => replica.sync().then(Boolean, () => false));
      await using other = await openElsewhere(file);
      const endsAt = String(Date.now() + 10_000);
      await other.exec(`INSERT INTO singleton_job_leases VALUES ('shop', 'c.1@10000', ${endsAt})`);
      expect(await replica.leases()).toEqual(['c.1@10000']);
    },
  );

  itDeletes('takes the older data that is left after a loss of -wal for another server', async () => {
    const file = newFile();
    const { replica: a } = await listen(file);
    const { incarnation: before } = await a.sync({ isNewcomer: true, grant: [A] });
    const old = await a.put('"old"');
    await using other = await openElsewhere(file);
    await other.exec('PRAGMA wal_checkpoint');
    await a.put('"new"', old);
    for (const end of ['-wal', '-shm']) rmSync(file + end);
    await until('it answers', () => a.sync({ renew: [A] }).then(Boolean, () => false));
    const { incarnation, records } = await a.sync({ renew: [A], read: [NAME] });
    expect(records).toEqual([old]);
    expect([incarnation.id === before.id, incarnation.isFirst]).toEqual([false, false]);
  });

  it.each(['nothing', 'a record'])('goes on after a checkpoint that empties -wal, and %s in it', async (written) => {
    const file = newFile();
    const { replica: a, disconnected } = await listen(file);
    const { incarnation: before } = await a.sync({ isNewcomer: true, grant: [A] });
    const old = await a.put('"old"');
    await using other = await openElsewhere(file);
    await other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    if (written === 'a record') await other.exec("UPDATE singleton_job_records SET value = '2'");
    const { incarnation, records } = await a.sync({ renew: [A], read: [NAME] });
    expect(records).toMatchObject([written === 'nothing' ? old : { value: '2' }]);
    expect([incarnation, disconnected]).toEqual([before, []]);
  });

  itDeletes('notices that its file is gone, also when it sends nothing and reads no hints', async () => {
    const file = newFile();
    const idle = open(newStore(file, { subscribes: false }));
    await idle.replica.sync();
    rmSync(file);
    await until('it is noticed', () => idle.disconnected.length > 0, { withinMs: 10_000 });
  });

  itDeletes('answers again after -wal was made empty, also beside an idle session', async () => {
    const file = newFile();
    const idle = open(newStore(file, { subscribes: false }));
    const stores = [await listen(file), await listen(file)];
    await idle.replica.sync();
    truncateSync(`${file}-wal`);
    await until('both notice it', async () => {
      await Promise.all(stores.map(isAnswered));
      return stores.every(({ disconnected }) => disconnected.length > 0);
    });
    await until('both answer', async () => (await Promise.all(stores.map(isAnswered))).every(Boolean));
  });

  itDeletes.each([[['', '-wal', '-shm']], [['-wal', '-shm']]])(
    'is on the new files when %j are deleted while it connects',
    async (ends) => {
      const file = newFile();
      await (await listen(file)).store.close();
      const old = await openHere(file);
      old.exec('BEGIN IMMEDIATE');
      const a = open(newStore(file));
      await delay(50);
      for (const end of ends) rmSync(file + end);
      old.exec('ROLLBACK');
      old.close();
      const b = await listen(file);
      await isListening(a);
      // an attempt that meets the files while they are made anew fails as well
      expect(a.events.join(' ')).toMatch(/^(disconnected )+connected listening$/);
      const { incarnation } = await b.replica.sync({ grant: [B] });
      await expect(a.replica.sync()).resolves.toMatchObject({ incarnation });
    },
  );

  itDeletes('follows a link to the file, and notices that it leads to another one', async () => {
    const [file, link] = [newFile(), newFile()];
    symlinkSync(file, link);
    const [a, b] = [await listen(file), await listen(link)];
    await a.store.publish(['x:job']);
    await until('the hint arrives', () => b.hints.length > 0);
    // it was found beside the file
    expect(b.warnings.map(({ code }) => code)).not.toContain('HINTS_NOT_DELIVERED');
    await (await listen(newFile())).store.close();
    rmSync(link);
    symlinkSync(newFile(), link);
    await until('it is noticed', () => b.disconnected.length > 0, { withinMs: 1_500 });
  });

  it('passes on the next hint after a wipe, and makes tables again that another program has dropped', async () => {
    const file = newFile();
    const opened = await listen(file);
    const { store, hints, events } = opened;
    const other = await openHere(file);
    await store.publish(['x:job']);
    await until('the hint arrives', () => hints.length === 1);
    other.exec('DELETE FROM singleton_job_records');
    // until the wipe was seen
    await delay(100);
    await store.publish(['y:job']);
    await until('the next one arrives', () => hints.length === 2);
    expect(hints).toEqual([['x:job'], ['y:job']]);

    for (const table of ['leases', 'incarnations', 'records']) other.exec(`DROP TABLE singleton_job_${table}`);
    other.close();
    await until('it answers', () => isAnswered(opened));
    expect(events).toContain('disconnected');
  });

  itSeesOpenFiles('warns within a minute that other code of this process has the file open', async () => {
    const file = newFile();
    const intervals = jest.spyOn(globalThis, 'setInterval');
    const first = await listen(file);
    const look = intervals.mock.calls.find(([, ms]) => ms === 60_000)?.[0] as () => void;
    intervals.mockRestore();
    // as another SQLite library has it
    const descriptor = openSync(`${file}-shm`, 'r');
    const second = await listen(file);
    const isWarned = ({ warnings }: OpenStore) => warnings.some(({ code }) => code === 'FILE_OPENED_TWICE');
    expect([first, second].map(isWarned)).toEqual([false, true]);
    look();
    await until('the first one warns', () => isWarned(first));
    closeSync(descriptor);
  });

  it('refuses a file with tables of another program, and leaves it as it is', async () => {
    const file = newFile();
    const other = await openHere(file);
    other.exec('CREATE TABLE orders (id INTEGER)');
    const { replica } = open(newStore(file));
    await expect(replica.sync()).rejects.toMatchObject({
      code: 'STORE_MISCONFIGURED',
      message: `${file} has tables of another program, such as 'orders': name a file of its own in connection, and start anew`,
    });
    const look = 'SELECT name, (SELECT journal_mode FROM pragma_journal_mode) AS mode FROM sqlite_master';
    expect(other.prepare(look).all()).toEqual([{ name: 'orders', mode: 'delete' }]);
    other.close();
  });

  it('leaves a file in which another program makes a table, and closes it no more than it opens it again', async () => {
    const file = newFile();
    const { replica, disconnected } = await listen(file);
    await using other = await openElsewhere(file);
    await other.exec('CREATE TABLE orders (id INTEGER)');
    // not one write more
    await expect(replica.sync({ grant: [A] })).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
    await until('it has tried again', () => disconnected.length > 2, { withinMs: 3_000 });
    expect(new Set(disconnected.map(({ code }) => code))).toEqual(new Set(['STORE_MISCONFIGURED']));
    const times = await openFiles();
    // where the system tells
    expect(times.get(file)).toBe(times.size === 0 ? undefined : 1);
  });

  it.each([
    ['a folder that is missing', '/no/such/jobs.db', /Name a folder that exists/],
    ['a folder without rights', '/proc/jobs.db', /Name a folder that exists and in which this process may write/],
    ['a file of another kind', import.meta.filename, /Name a file of SQLite in connection/],
  ])('says what to do about %s', async (_what, file, fix) => {
    const { replica, disconnected } = open(newStore(file));
    await expect(replica.sync()).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
    expect(disconnected[0]?.message).toMatch(fix);
  });

  // extended ones of SQLITE_IOERR and SQLITE_CORRUPT, and SQLITE_NOTADB
  it.each([522, 779, 26])('connects anew after the result code %i', async (errcode) => {
    let isDamaged = false;
    class Damaged extends (await loadSqlite()) {
      override prepare(sql: string) {
        if (isDamaged) throw Object.assign(new Error('damaged'), { errcode });
        return super.prepare(sql);
      }
    }
    const opened = open(storeOn(Damaged));
    await isListening(opened);
    isDamaged = true;
    await expect(opened.replica.sync()).rejects.toThrow('damaged');
    isDamaged = false;
    expect(opened.disconnected).toHaveLength(1);
    await until('it answers', () => isAnswered(opened));
  });

  it('says what to do about a full disk, also at the first write of a record', async () => {
    class Full extends (await loadSqlite()) {
      override prepare(sql: string) {
        if (!sql.startsWith('INSERT INTO singleton_job_records')) return super.prepare(sql);
        throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
      }
    }
    const { replica } = open(storeOn(Full));
    await replica.sync({ grant: [A] });
    await expect(replica.write()).rejects.toThrow(/Free space on the disk/);
  });

  it('says what to do about a disk without shared memory', async () => {
    class Unshared extends (await loadSqlite()) {
      override prepare(): never {
        // SQLITE_IOERR_SHMMAP
        throw Object.assign(new Error('disk I/O error'), { errcode: 5386 });
      }
    }
    const { replica } = open(storeOn(Unshared));
    await expect(replica.sync()).rejects.toThrow(/name a file on a local disk/);
  });
});
