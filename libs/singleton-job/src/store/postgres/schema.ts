import { FUNCTIONS } from './functions.js';

/**
 * All that the library needs in the database. It is never changed once it is published: replicas of two versions run
 * side by side during each deploy. What a later version needs is a further step, with functions of a new name.
 *
 * Times are milliseconds since the epoch by the clock of the server. `fillfactor` leaves room for the next version of a
 * row on its page. The comments are for a person who looks at the tables, as with `\d+` of psql.
 */
const SCHEMA = `
CREATE TABLE {schema}.incarnations (project text PRIMARY KEY, server text NOT NULL, since bigint NOT NULL, is_first boolean NOT NULL);
COMMENT ON TABLE {schema}.incarnations IS 'nestjs-singleton-job: which data this is, one row for each project';
COMMENT ON COLUMN {schema}.incarnations.project IS 'projectName of the application';
COMMENT ON COLUMN {schema}.incarnations.server IS 'start of the server, in microseconds since 1970';
COMMENT ON COLUMN {schema}.incarnations.since IS 'when a replica first met this server, in ms since 1970';
COMMENT ON COLUMN {schema}.incarnations.is_first IS 'true: the project had no data before';
CREATE TABLE {schema}.leases (
  project text, id text, ttl bigint NOT NULL, ends_at bigint NOT NULL, PRIMARY KEY (project, id)
) WITH (fillfactor = 50);
COMMENT ON TABLE {schema}.leases IS 'nestjs-singleton-job: which replicas are alive, one row for each lockExpiry that a replica uses';
COMMENT ON COLUMN {schema}.leases.project IS 'projectName of the application';
COMMENT ON COLUMN {schema}.leases.id IS 'name of the replica, counter and lockExpiry in ms, as in web-1-3b0ab314.1@10000';
COMMENT ON COLUMN {schema}.leases.ttl IS 'lockExpiry in ms';
COMMENT ON COLUMN {schema}.leases.ends_at IS 'when the lease ends unless a heartbeat comes, in ms since 1970';
CREATE TABLE {schema}.records (
  project text, name text, revision bigint NOT NULL, value text NOT NULL, forget_at bigint, PRIMARY KEY (project, name)
) WITH (fillfactor = 70);
CREATE INDEX ON {schema}.records (project, forget_at) WHERE forget_at IS NOT NULL;
COMMENT ON TABLE {schema}.records IS 'nestjs-singleton-job: who leads, one row for each job and lock. To delete one can give a job two leaders';
COMMENT ON COLUMN {schema}.records.project IS 'projectName of the application';
COMMENT ON COLUMN {schema}.records.name IS 'name of the job and :job, or key of the lock and :lock';
COMMENT ON COLUMN {schema}.records.revision IS 'grows with each write; a write names the one that it saw';
COMMENT ON COLUMN {schema}.records.value IS 'JSON: holder (the lease of the leader), fencingToken, run (the last one), pause and others';
COMMENT ON COLUMN {schema}.records.forget_at IS 'when the row may be removed, in ms since 1970; null: never';
${FUNCTIONS}`;

/** Where it is, the schema is complete. */
export const LAST_FUNCTION = 'compare_and_set_1';

/**
 * The SQL that brings a PostgreSQL to the newest version of the schema, for teams that run their migrations themselves:
 * see the option `migrate`. It is one statement, which is carried out as a whole or not at all, and changes nothing
 * where all is there.
 *
 * @param schema as in the option `schema`
 * @example `await client.query(postgresMigrations())`
 */
export function postgresMigrations(schema = 'singleton_job'): string {
  return `DO $migration$ BEGIN
-- one replica at a time, and none waits for long behind a reader of these tables
PERFORM set_config('lock_timeout', '1s', true), pg_advisory_xact_lock(hashtext('nestjs-singleton-job'), hashtext('${schema}'));
IF to_regnamespace('{schema}') IS NULL THEN CREATE SCHEMA {schema}; END IF;
IF to_regproc('{schema}.${LAST_FUNCTION}') IS NULL THEN ${SCHEMA} END IF;
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
