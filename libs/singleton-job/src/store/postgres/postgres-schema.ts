import { FUNCTIONS } from './postgres-functions.js';

/**
 * What the library needs in the database, as numbered steps. A step is never changed once it is published: replicas of two versions run at
 * the same time during every deploy. What a later version needs is a further step, with functions of a new name.
 *
 * Times are milliseconds since the epoch by the clock of the server. `fillfactor` leaves room for the next version of a row on the same page,
 * and no index contains a column that changes.
 */
const STEPS: readonly string[] = [
  `
CREATE TABLE {schema}.servers (
  project text PRIMARY KEY,
  server_id text,
  since bigint NOT NULL DEFAULT 0,
  version bigint NOT NULL DEFAULT 0,
  pauses bigint NOT NULL DEFAULT 0,
  cleaned_at bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE {schema}.sessions (
  project text NOT NULL,
  id text NOT NULL,
  replica text NOT NULL,
  expiry bigint NOT NULL,
  end_at bigint NOT NULL,
  seen bigint NOT NULL,
  since bigint NOT NULL,
  ended boolean NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (project, id)
) WITH (fillfactor = 50);
CREATE TABLE {schema}.locks (
  project text NOT NULL,
  name text NOT NULL,
  holder text,
  expires_at bigint,
  token bigint NOT NULL DEFAULT 0,
  created_at bigint,
  claimed bigint,
  claimed_by text,
  handled bigint,
  slot bigint,
  run_started_at bigint,
  run_ended_at bigint,
  last_run text COLLATE "C",
  schedule text,
  paused_at bigint,
  state_expires_at bigint,
  PRIMARY KEY (project, name)
) WITH (fillfactor = 50);
${FUNCTIONS}
`,
];

/** The number of the newest step. */
export const LATEST = STEPS.length;

/**
 * The SQL that brings a PostgreSQL to the newest version of the schema, for teams that run their migrations themselves: see the option
 * `migrate`. It is one statement, which is carried out as a whole or not at all, and changes nothing where all is there.
 *
 * @param schema as in the option `schema`
 * @example `await client.query(postgresMigrations())`
 */
export function postgresMigrations(schema = 'singleton_job'): string {
  const steps = STEPS.map((step, index) => {
    const number = index + 1;
    return `IF NOT EXISTS (SELECT FROM {schema}.migrations WHERE number = ${number}) THEN
${step}
INSERT INTO {schema}.migrations (number) VALUES (${number});
END IF;`;
  });
  return `DO $migration$ BEGIN
-- one replica at a time, and none waits behind a reader of these tables
PERFORM set_config('lock_timeout', '200ms', true), pg_advisory_xact_lock(hashtext('nestjs-singleton-job'), hashtext('${schema}'));
IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${schema}') THEN CREATE SCHEMA {schema}; END IF;
CREATE TABLE IF NOT EXISTS {schema}.migrations (number integer PRIMARY KEY);
${steps.join('\n')}
END $migration$`.replaceAll('{schema}', `"${schema}"`);
}

/** What the role of an application needs that does not own the schema. */
export function grantSql(schema: string, role: string): string {
  const s = `"${schema}"`;
  return [
    `GRANT USAGE ON SCHEMA ${s} TO "${role}"`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${s} TO "${role}"`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${s} TO "${role}"`,
  ].join('; ');
}
