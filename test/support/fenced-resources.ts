import { randomUUID } from 'node:crypto';
import { type PGlite } from '@electric-sql/pglite';
import { type Redis } from 'ioredis';
import { type JobRun } from 'nestjs-singleton-job';
import { changePage } from './fenced-http.js';
import { putPrice } from './fenced-redis.js';
import { type FencedServer } from './fenced-server.js';
import { DailyReport, enterFence, putReport } from './fenced-sql.js';

/** Something that jobs write to, with the recipe that fences it. */
export interface FencedResource {
  /** Nothing was written yet. */
  begin(): Promise<unknown>;
  /** Writes by the recipe; `pause` is what the run does between its last look at its lease or the resource and the write. */
  write(run: JobRun, text: string, pause?: () => Promise<void>): Promise<void>;
  /** Writes without any check. */
  overwrite(text: string): Promise<unknown>;
  read(): Promise<unknown>;
}

const noPause = (): Promise<void> => Promise.resolve();

export interface Backends {
  readonly db: () => PGlite;
  readonly redis: () => Redis;
  readonly server: () => FencedServer;
}

/** Every resource of docs/fencing.md. */
export function fencedResources({ db, redis, server }: Backends) {
  return {
    'an UPDATE in SQL': {
      ...inSql(db),
      write: (run: JobRun, text: string, pause = noPause) => {
        const compose = (): Promise<string> => pause().then(() => text);
        return new DailyReport(db(), { compose }).write(run);
      },
    },
    'an INSERT in SQL that becomes an UPDATE': {
      ...inSql(db),
      begin: () => db().exec('DELETE FROM report'),
      write: async (run, text, pause = noPause) => {
        await pause();
        await putReport(db(), 'daily', text, run.fencingToken);
      },
    },
    'a transaction in SQL': {
      ...inSql(db),
      write: async (run, text, pause = noPause) => {
        await pause();
        await db().transaction(async (transaction) => {
          await enterFence(transaction, run);
          await transaction.query(`UPDATE report SET body = $1 WHERE id = 'daily'`, [text]);
        });
      },
    },
    'a script in Redis': inRedis(redis),
    'If-Match over HTTP': overHttp(server),
  } satisfies Record<string, FencedResource>;
}

function inSql(db: () => PGlite): Omit<FencedResource, 'write'> {
  return {
    begin: () => db().exec(`DELETE FROM fence; DELETE FROM report; INSERT INTO report (id, body) VALUES ('daily', '')`),
    overwrite: (text) => db().query(`UPDATE report SET body = $1 WHERE id = 'daily'`, [text]),
    read: async () => (await db().query<{ body: string }>('SELECT body FROM report')).rows[0]?.body,
  };
}

/** The server may be somebody else's, so a name of one's own and nothing left behind. */
function inRedis(redis: () => Redis): FencedResource {
  const symbol = randomUUID();
  const key = `{price:${symbol}}:value`;
  return {
    begin: () => redis().del(key, `{price:${symbol}}:token`),
    write: async (run, text, pause = noPause) => {
      await pause();
      await putPrice(redis(), symbol, text, run.fencingToken);
    },
    overwrite: (text) => redis().set(key, text),
    read: () => redis().get(key),
  };
}

function overHttp(server: () => FencedServer): FencedResource {
  return {
    begin: async () => {
      server().page = { text: '', fencingToken: 0 };
    },
    write: (run, text, pause = noPause) => changePage(server().url, run, () => pause().then(() => text)),
    overwrite: (text) =>
      fetch(server().url, { method: 'PUT', body: JSON.stringify({ text, fencingToken: Number.MAX_SAFE_INTEGER }) }),
    read: async () => ((await (await fetch(server().url)).json()) as { text: string }).text,
  };
}
