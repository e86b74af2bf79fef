/**
 * The two requests of a store as functions. A single statement is no atomic step: what it read before it waited for a
 * row is old by then. So a function locks its own rows, then reads the clock, then decides. It waits for its own rows
 * only. `lock_timeout` ends that wait, and rows of others that are locked are left as they are.
 */
export const FUNCTIONS = String.raw`
CREATE FUNCTION {schema}.clock_1() RETURNS bigint LANGUAGE sql VOLATILE
AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- Which server answers: the time of its start in microseconds. Refuses where an answer could be wrong.
CREATE FUNCTION {schema}.server_1() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF pg_is_in_recovery() THEN RAISE EXCEPTION 'this server is a standby' USING ERRCODE = '55000'; END IF;
  IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
    RAISE EXCEPTION 'the isolation level is %', current_setting('transaction_isolation') USING ERRCODE = 'SJ001';
  END IF;
  -- what was confirmed must survive a crash
  IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'local', true); END IF;
  RETURN floor(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint;
END $$;

CREATE FUNCTION {schema}.sync_1(a_project text, is_newcomer boolean, renewed text[], granted text[], revoked text[], names text[])
RETURNS json LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
DECLARE
  this_server text := {schema}.server_1();
  now bigint := {schema}.clock_1();
  read_records json;
  noted {schema}.incarnations;
BEGIN
  -- before the leases: the lease of a holder that is read here cannot be missing there because it is new
  SELECT json_object_agg(name, json_build_object('revision', revision, 'value', value)) INTO read_records
  FROM {schema}.records JOIN unnest(names) name USING (name) WHERE project = a_project AND coalesce(forget_at > now, true);
  SELECT * INTO noted FROM {schema}.incarnations WHERE project = a_project;
  IF noted.server IS DISTINCT FROM this_server AND cardinality(renewed || granted) > 0 THEN
    INSERT INTO {schema}.incarnations VALUES (a_project, this_server, {schema}.clock_1(), is_newcomer) ON CONFLICT DO NOTHING;
    -- locks nothing where another replica has noted it meanwhile
    UPDATE {schema}.incarnations SET server = this_server, since = {schema}.clock_1(), is_first = false
    WHERE project = a_project AND server <> this_server;
    SELECT * INTO noted FROM {schema}.incarnations WHERE project = a_project;
  END IF;

  PERFORM FROM {schema}.leases WHERE project = a_project AND id = ANY (renewed || granted || revoked) ORDER BY id FOR UPDATE;
  now := {schema}.clock_1();
  DELETE FROM {schema}.leases WHERE project = a_project AND id IN (
    SELECT id FROM {schema}.leases WHERE project = a_project AND ends_at <= now FOR UPDATE SKIP LOCKED);
  -- the clock was set back; not measured by now, for another replica may have renewed its lease since
  UPDATE {schema}.leases SET ends_at = {schema}.clock_1() + ttl WHERE project = a_project AND id IN (
    SELECT id FROM {schema}.leases WHERE project = a_project AND ends_at > {schema}.clock_1() + ttl FOR UPDATE SKIP LOCKED);
  UPDATE {schema}.leases SET ends_at = now + ttl WHERE project = a_project AND id = ANY (renewed);
  INSERT INTO {schema}.leases
  SELECT DISTINCT a_project, id, ttl, now + ttl FROM unnest(granted) id, CAST(substring(id FROM '[0-9]+$') AS bigint) ttl ORDER BY id
  ON CONFLICT (project, id) DO UPDATE SET ends_at = excluded.ends_at;
  DELETE FROM {schema}.leases WHERE project = a_project AND id = ANY (revoked);

  -- of another server, and this request notes nothing
  IF noted.server <> this_server THEN noted := NULL; END IF;
  -- A lease that has ended is here only if its row is locked. A renewal that is under way there can last for one more TTL, not longer.
  RETURN json_build_object('time', now, 'records', coalesce(read_records, '{}'), 'leases', (
      SELECT coalesce(json_object_agg(id, greatest(least(ends_at - now, ttl), 0)), '{}')
      FROM {schema}.leases WHERE project = a_project AND ends_at > now - ttl),
    'incarnation', json_build_object('id', coalesce(noted.server || '/' || noted.since, ''),
      'since', coalesce(noted.since, 0), 'isFirst', coalesce(noted.is_first, false)));
END $$;

-- Answers with the new revisions of the records that were written, by their names. A record is forgotten never after -1 ms: with array_nulls off
-- an array holds no null.
CREATE FUNCTION {schema}.compare_and_set_1(
  a_project text, incarnation text, until double precision, names text[], revisions bigint[], new_values text[], forget_after bigint[]
) RETURNS json LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
DECLARE
  this_server text := {schema}.server_1();
  now bigint;
  written json;
BEGIN
  PERFORM FROM {schema}.records WHERE project = a_project AND name = ANY (names) ORDER BY name FOR UPDATE SKIP LOCKED;
  now := {schema}.clock_1();
  IF now >= until OR NOT EXISTS (SELECT FROM {schema}.incarnations
    WHERE project = a_project AND server = this_server AND server || '/' || since = incarnation) THEN RETURN '{}'; END IF;

  WITH wanted AS (
    SELECT name, if_revision, new_value, nullif(forget, -1) AS keep_ms
    FROM unnest(names, revisions, new_values, forget_after) w (name, if_revision, new_value, forget)
  ), changed AS (
    UPDATE {schema}.records r SET revision = greatest(r.revision + 1, now), value = new_value, forget_at = now + keep_ms
    FROM (SELECT w.* FROM wanted w JOIN {schema}.records USING (name) WHERE project = a_project FOR UPDATE OF records SKIP LOCKED) w
    WHERE r.project = a_project AND r.name = w.name AND if_revision = CASE WHEN r.forget_at <= now THEN 0 ELSE r.revision END
    RETURNING r.name, r.revision
  ), made AS (
    INSERT INTO {schema}.records SELECT a_project, name, now, new_value, now + keep_ms FROM wanted w
    WHERE if_revision = 0 AND NOT EXISTS (SELECT FROM {schema}.records r WHERE project = a_project AND r.name = w.name)
    ORDER BY name ON CONFLICT DO NOTHING RETURNING name, revision
  )
  SELECT json_object_agg(name, revision) INTO written FROM (SELECT * FROM changed UNION ALL SELECT * FROM made) w;

  DELETE FROM {schema}.records WHERE project = a_project AND name IN (
    SELECT name FROM {schema}.records WHERE project = a_project AND forget_at <= now LIMIT 1000 FOR UPDATE SKIP LOCKED);
  RETURN coalesce(written, '{}');
END $$;
`;
