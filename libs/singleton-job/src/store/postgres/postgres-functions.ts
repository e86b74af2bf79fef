import { CLAIM_LEAD_MS } from '../lock-store.js';

/**
 * Each step of the store is a function, because a single statement is not one atomic step: what it read before it waited for a row is old by
 * then. A function locks its rows, then reads the clock, then decides. Own rows come first, rows of others only if nobody has them locked,
 * the row of the project last.
 */
const COMMON = String.raw`
CREATE FUNCTION {schema}.now_1() RETURNS bigint LANGUAGE sql VOLATILE
AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- another server, or another life of this one, has another id; fails on a standby
CREATE FUNCTION {schema}.server_id_1() RETURNS text LANGUAGE sql VOLATILE
AS $$ SELECT system_identifier || '-' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '-' ||
  floor(extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint FROM pg_control_system() $$;

CREATE FUNCTION {schema}.session_1(holder text) RETURNS text LANGUAGE sql IMMUTABLE
AS $$ SELECT substring(holder FROM '^(.*\.\d+@\d+)#[^#]*$') $$;

CREATE FUNCTION {schema}.expiry_1(session text) RETURNS bigint LANGUAGE sql IMMUTABLE
AS $$ SELECT coalesce(substring(session FROM '@(\d+)$')::bigint, 0) $$;

CREATE FUNCTION {schema}.replica_1(session text) RETURNS text LANGUAGE sql IMMUTABLE
AS $$ SELECT coalesce(substring(session FROM '^(.*)\.\d+@\d+$'), '') $$;

-- when a session ends: a full life from the last break, unless a heartbeat has set its end since
CREATE FUNCTION {schema}.end_1(s {schema}.sessions, since bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
AS $$ SELECT CASE WHEN s.ended OR s.since = since THEN s.end_at ELSE since + s.expiry END $$;

-- the next version of the list of sessions; until the end of the transaction nobody else draws one
CREATE FUNCTION {schema}.next_version_1(a_project text, now bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE drawn bigint;
BEGIN
  INSERT INTO {schema}.servers (project) VALUES (a_project) ON CONFLICT DO NOTHING;
  UPDATE {schema}.servers SET version = greatest(version + 1, now) WHERE project = a_project RETURNING version INTO drawn;
  RETURN drawn;
END $$;
`;

const SESSIONS = String.raw`
-- kept: [{ id, expiry, confirmedEnd }]
CREATE FUNCTION {schema}.heartbeat_1(a_project text, known_version bigint, known_since bigint, kept jsonb)
RETURNS jsonb LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
DECLARE
  this_server text := {schema}.server_id_1();
  own text[] := ARRAY(SELECT k->>'id' FROM jsonb_array_elements(kept) k);
  now bigint;
  server {schema}.servers;
  is_break boolean;
  over text[];
  k jsonb;
  session {schema}.sessions;
  confirmed bigint;
  next_version bigint;
  results jsonb := '[]';
  is_whole boolean;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'default_transaction_isolation is %', current_setting('transaction_isolation') USING ERRCODE = 'SJ001';
  END IF;
  SELECT * INTO server FROM {schema}.servers WHERE project = a_project;
  IF server.server_id IS DISTINCT FROM this_server THEN
    INSERT INTO {schema}.servers (project) VALUES (a_project) ON CONFLICT DO NOTHING;
    SELECT * INTO server FROM {schema}.servers WHERE project = a_project FOR UPDATE;
  END IF;
  PERFORM FROM {schema}.sessions WHERE project = a_project AND id = ANY (own) ORDER BY id FOR UPDATE;
  now := {schema}.now_1();

  is_break := server.server_id IS DISTINCT FROM this_server;
  IF is_break THEN
    UPDATE {schema}.servers SET server_id = this_server, since = now WHERE project = a_project RETURNING * INTO server;
  END IF;

  -- 1. after the clock was set back, no end is later than a heartbeat of now would set it
  UPDATE {schema}.sessions SET end_at = least(end_at, CASE WHEN ended THEN now ELSE now + expiry END), seen = now
  WHERE project = a_project AND id IN (
    SELECT id FROM {schema}.sessions WHERE project = a_project AND seen > now ORDER BY id FOR UPDATE SKIP LOCKED);
  -- 2. ended two lives of a lock ago
  DELETE FROM {schema}.sessions WHERE project = a_project AND id IN (
    SELECT id FROM {schema}.sessions WHERE project = a_project AND ended AND now - end_at > 2 * greatest(expiry + 20000, 35000)
    ORDER BY id FOR UPDATE SKIP LOCKED);
  -- 3 and 4. the break has moved the ends, without a write to the rows of others
  over := ARRAY(SELECT id FROM {schema}.sessions s
    WHERE project = a_project AND NOT ended AND {schema}.end_1(s, server.since) <= now
    ORDER BY id FOR UPDATE SKIP LOCKED);
  IF cardinality(over) > 0 OR EXISTS (
    SELECT FROM jsonb_array_elements(kept) e
    WHERE NOT EXISTS (SELECT FROM {schema}.sessions s WHERE s.project = a_project AND s.id = e->>'id')
    AND coalesce((e->>'confirmedEnd')::bigint > now, true))
  THEN
    next_version := {schema}.next_version_1(a_project, now);
    UPDATE {schema}.sessions s SET end_at = {schema}.end_1(s, server.since), ended = true, version = next_version WHERE project = a_project AND id = ANY (over);
  END IF;

  -- 5. the sessions of this replica
  FOR k IN SELECT * FROM jsonb_array_elements(kept) LOOP
    confirmed := (k->>'confirmedEnd')::bigint;
    SELECT * INTO session FROM {schema}.sessions WHERE project = a_project AND id = k->>'id';
    IF session.ended THEN
      results := results || jsonb_build_array(jsonb_build_array('ended', session.end_at));
    ELSIF session.id IS NULL AND confirmed <= now THEN
      results := results || jsonb_build_array(jsonb_build_array('ended', confirmed));
    ELSE
      INSERT INTO {schema}.sessions (project, id, replica, expiry, end_at, seen, since, ended, version)
      VALUES (a_project, k->>'id', {schema}.replica_1(k->>'id'), {schema}.expiry_1(k->>'id'), now + (k->>'expiry')::bigint, now, server.since, false,
        coalesce(session.version, next_version))
      ON CONFLICT (project, id) DO UPDATE SET end_at = excluded.end_at, seen = excluded.seen, since = excluded.since;
      results := results || jsonb_build_array(jsonb_build_array(
        CASE WHEN session.id IS NULL AND confirmed IS NOT NULL THEN 'listed-again' ELSE 'extended' END,
        now + (k->>'expiry')::bigint));
    END IF;
  END LOOP;

  IF now > server.cleaned_at + 60000 THEN
    UPDATE {schema}.servers SET cleaned_at = now WHERE project = a_project;
    DELETE FROM {schema}.locks WHERE project = a_project AND name IN (
      SELECT name FROM {schema}.locks WHERE project = a_project AND state_expires_at < now AND coalesce(expires_at < now, holder IS NULL)
      ORDER BY name FOR UPDATE SKIP LOCKED);
  END IF;

  -- the version first and the list in a later statement: a change that comes between is sent twice, not never
  SELECT * INTO server FROM {schema}.servers WHERE project = a_project;
  is_whole := known_version IS NULL OR known_since <> server.since OR known_version > server.version;
  RETURN jsonb_build_object(
    'now', now, 'sessions', results, 'serverId', server.server_id, 'since', server.since, 'version', server.version,
    'pauses', server.pauses, 'isWhole', is_whole,
    'count', (SELECT count(*) FROM {schema}.sessions WHERE project = a_project),
    'nextEnd', (SELECT min({schema}.end_1(s, server.since)) FROM {schema}.sessions s
      WHERE project = a_project AND NOT ended AND replica <> '' AND replica <> {schema}.replica_1(own[1])
      AND expiry IN (SELECT (e->>'expiry')::bigint FROM jsonb_array_elements(kept) e)),
    'list', coalesce((SELECT jsonb_agg(jsonb_build_array(id, ended, {schema}.end_1(s, server.since)))
      FROM {schema}.sessions s WHERE project = a_project AND (is_whole OR version > known_version)), '[]'));
END $$;

CREATE FUNCTION {schema}.end_session_1(a_project text, an_id text, confirmed bigint)
RETURNS void LANGUAGE plpgsql VOLATILE SET lock_timeout = '1s' AS $$
DECLARE
  session {schema}.sessions;
  now bigint;
  since bigint;
BEGIN
  SELECT * INTO session FROM {schema}.sessions WHERE project = a_project AND id = an_id FOR UPDATE;
  IF session.ended THEN RETURN; END IF;
  now := {schema}.now_1();
  SELECT coalesce(max(servers.since), 0) INTO since FROM {schema}.servers WHERE project = a_project;
  INSERT INTO {schema}.sessions (project, id, replica, expiry, end_at, seen, since, ended, version)
  VALUES (a_project, an_id, {schema}.replica_1(an_id), {schema}.expiry_1(an_id),
    CASE WHEN session.id IS NULL THEN coalesce(confirmed, now) ELSE {schema}.end_1(session, since) END, now, since, true,
    {schema}.next_version_1(a_project, now))
  ON CONFLICT (project, id) DO UPDATE SET end_at = excluded.end_at, ended = true, version = excluded.version;
END $$;
`;

const LOCKS = String.raw`
CREATE FUNCTION {schema}.record_1(l {schema}.locks, u jsonb, now bigint) RETURNS {schema}.locks LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE newest bigint := greatest(l.claimed, (u->>'claimed')::bigint, (u->>'handled')::bigint);
BEGIN
  IF newest IS DISTINCT FROM l.claimed THEN l.claimed_by := NULL; END IF;
  l.claimed := newest;
  l.handled := greatest(l.handled, (u->>'handled')::bigint);
  l.slot := greatest(l.slot, (u->>'slot')::bigint);
  -- no run began or ended in the future: the clock may have been set back
  IF u ? 'runStartedAt' THEN l.run_started_at := least(greatest(l.run_started_at, (u->>'runStartedAt')::bigint), now); END IF;
  IF u ? 'runEndedAt' THEN l.run_ended_at := least(greatest(l.run_ended_at, (u->>'runEndedAt')::bigint), now); END IF;
  l.last_run := greatest(l.last_run, (u->>'lastRun') COLLATE "C");
  l.schedule := coalesce(u->>'schedule', l.schedule);
  RETURN l;
END $$;

-- A renewal of the lock of a session writes only when half of its life is gone, so the life is twice what the leader needs. It still ends
-- before the session is forgotten. Followers go by the session.
CREATE FUNCTION {schema}.life_1(holder text, life bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
AS $$ SELECT CASE WHEN {schema}.session_1(holder) IS NULL THEN life ELSE 2 * life END $$;

-- steps: in the order of their names, so that two batches never wait for each other. Each has one answer, null where its row was not to
-- be had. Without a channel no message is sent.
CREATE FUNCTION {schema}.locks_1(a_project text, steps jsonb, channel text)
RETURNS jsonb LANGUAGE plpgsql VOLATILE SET lock_timeout = '250ms' AS $$
DECLARE
  step jsonb;
  op text;
  a_name text;
  wanted text;
  life bigint;
  now bigint;
  l {schema}.locks;
  before {schema}.locks;
  held text;
  server {schema}.servers;
  this_server text;
  is_new boolean;
  reason text;
  answer jsonb;
  answers jsonb := '[]';
  pauses_changed_at bigint;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'default_transaction_isolation is %', current_setting('transaction_isolation') USING ERRCODE = 'SJ001';
  END IF;
  PERFORM FROM {schema}.locks WHERE project = a_project
    AND name IN (SELECT s->>'name' FROM jsonb_array_elements(steps) s WHERE s->>'op' <> 'renew')
    ORDER BY name FOR UPDATE SKIP LOCKED;
  FOR step IN SELECT * FROM jsonb_array_elements(steps) LOOP
    op := step->>'op';
    a_name := step->>'name';
    wanted := step->>'holder';
    life := {schema}.life_1(wanted, (step->>'lifeMs')::bigint);
    is_new := false;
    IF op = 'renew' THEN
      SELECT * INTO l FROM {schema}.locks WHERE project = a_project AND name = a_name;
      now := {schema}.now_1();
      -- most renewals change nothing yet
      IF l.holder = wanted AND {schema}.session_1(wanted) IS NOT NULL AND l.expires_at - now > life / 2
        AND l.state_expires_at IS NULL AND NOT step ? 'stateLifeMs' AND {schema}.record_1(l, step->'update', now) IS NOT DISTINCT FROM l
      THEN
        answers := answers || jsonb_build_array(jsonb_build_object('now', now, 'holder', wanted, 'held', true, 'pausedAt', l.paused_at));
        CONTINUE;
      END IF;
    END IF;
    BEGIN
      LOOP
        SELECT * INTO l FROM {schema}.locks WHERE project = a_project AND name = a_name FOR UPDATE;
        EXIT WHEN FOUND OR op NOT IN ('acquire', 'setPaused');
        INSERT INTO {schema}.locks (project, name) VALUES (a_project, a_name) ON CONFLICT DO NOTHING;
        is_new := FOUND;
      END LOOP;
    EXCEPTION WHEN lock_not_available THEN
      answers := answers || 'null';
      CONTINUE;
    END;
    now := {schema}.now_1();
    before := l;
    IF l.state_expires_at < now THEN
      l.token := 0; l.created_at := NULL; l.claimed := NULL; l.claimed_by := NULL; l.handled := NULL; l.slot := NULL;
      l.run_started_at := NULL; l.run_ended_at := NULL; l.last_run := NULL; l.schedule := NULL; l.paused_at := NULL; l.state_expires_at := NULL;
    END IF;
    held := CASE WHEN coalesce(l.expires_at >= now, true) THEN l.holder END;
    answer := jsonb_build_object('now', now, 'holder', held, 'pausedAt', l.paused_at);

    IF op = 'acquire' THEN
      IF step ? 'serverId' AND this_server IS NULL THEN
        this_server := {schema}.server_id_1();
        SELECT * INTO server FROM {schema}.servers WHERE project = a_project;
      END IF;
      reason := CASE
        WHEN held <> wanted AND NOT coalesce(
          {schema}.session_1(held) = step->>'endedSession' OR ({schema}.session_1(held) = {schema}.session_1(wanted)
            AND substring(held FROM '#(\d+)$')::numeric < substring(wanted FROM '#(\d+)$')::numeric), false) THEN 'held'
        WHEN l.paused_at IS NOT NULL AND held IS DISTINCT FROM wanted THEN 'paused'
        WHEN (step->>'knownStateCreatedAt')::bigint IS DISTINCT FROM l.created_at AND step ? 'knownStateCreatedAt' THEN 'outdated'
        WHEN step ? 'serverId' AND (step->>'serverId' <> this_server OR server.server_id IS DISTINCT FROM this_server
          OR (step->>'serverSince')::bigint IS DISTINCT FROM server.since) THEN 'outdated'
        WHEN held IS DISTINCT FROM wanted AND NOT ((step->>'isFirstStart')::boolean AND l.created_at IS NULL)
          AND now < (step->>'notBefore')::bigint THEN 'too-early'
      END;
      answer := answer || jsonb_build_object(
        'claimed', l.claimed, 'claimedBy', l.claimed_by, 'handled', l.handled, 'slot', l.slot, 'runStartedAt', l.run_started_at,
        'runEndedAt', l.run_ended_at, 'lastRun', l.last_run, 'schedule', l.schedule);
      IF reason IS NULL THEN
        IF held IS DISTINCT FROM wanted OR l.token = 0 OR l.token < (step->>'seenToken')::bigint THEN
          l.token := greatest(l.token + 1, now, (step->>'seenToken')::bigint + 1);
        END IF;
        l.created_at := coalesce(l.created_at, now);
        l.holder := wanted;
        l.expires_at := now + life;
        IF step ? 'stateLifeMs' THEN l.state_expires_at := now + (step->>'stateLifeMs')::bigint; END IF;
      ELSIF held IS NOT NULL AND l.expires_at IS NULL THEN
        l.expires_at := now + life;
        answer := answer || '{ "ttlRestored": true }';
      END IF;
      answer := answer || jsonb_build_object('reason', reason, 'token', l.token, 'createdAt', l.created_at,
        'ttlMs', CASE WHEN held IS NULL THEN 0 ELSE l.expires_at - now END);
    ELSIF op = 'setPaused' THEN
      l.paused_at := CASE WHEN (step->>'isPaused')::boolean THEN coalesce(l.paused_at, now) END;
      IF l.paused_at IS DISTINCT FROM before.paused_at THEN pauses_changed_at := now; END IF;
      answer := answer || jsonb_build_object('pausedAt', l.paused_at);
    ELSIF held = wanted THEN
      l := {schema}.record_1(l, step->'update', now);
      answer := answer || '{ "held": true }';
      IF op = 'release' THEN
        l.holder := NULL;
        l.expires_at := NULL;
        IF channel IS NOT NULL THEN PERFORM pg_notify(channel, step->>'message'); END IF;
      ELSE
        l.expires_at := now + life;
        IF step ? 'stateLifeMs' AND l.created_at IS NOT NULL THEN l.state_expires_at := now + (step->>'stateLifeMs')::bigint; END IF;
      END IF;
      IF op = 'claim' THEN
        answer := answer || jsonb_build_object('outcome', CASE
          WHEN (step->>'scheduledAt')::bigint > now + ${CLAIM_LEAD_MS} THEN 'too-early'
          WHEN (step->>'scheduledAt')::bigint = l.claimed AND l.claimed_by = wanted || ' ' || (step->>'token') THEN 'already-ours'
          WHEN (step->>'scheduledAt')::bigint <= l.claimed THEN 'taken'
          WHEN l.paused_at IS NOT NULL THEN 'paused'
          ELSE 'claimed' END);
        IF answer->>'outcome' = 'claimed' THEN
          l.claimed := (step->>'scheduledAt')::bigint;
          l.claimed_by := wanted || ' ' || (step->>'token');
        END IF;
      END IF;
    END IF;
    IF op = 'claim' THEN answer := answer || jsonb_build_object('claimed', coalesce(l.claimed, 0)); END IF;
    answers := answers || jsonb_build_array(answer);

    IF is_new AND reason IS NOT NULL AND op = 'acquire' THEN
      DELETE FROM {schema}.locks WHERE project = a_project AND name = a_name;
    ELSIF l IS DISTINCT FROM before THEN
      UPDATE {schema}.locks SET holder = l.holder, expires_at = l.expires_at, token = l.token, created_at = l.created_at, claimed = l.claimed,
        claimed_by = l.claimed_by, handled = l.handled, slot = l.slot, run_started_at = l.run_started_at, run_ended_at = l.run_ended_at,
        last_run = l.last_run, schedule = l.schedule, paused_at = l.paused_at, state_expires_at = l.state_expires_at
      WHERE project = a_project AND name = a_name;
    END IF;
  END LOOP;
  IF pauses_changed_at IS NOT NULL THEN
    INSERT INTO {schema}.servers (project) VALUES (a_project) ON CONFLICT DO NOTHING;
    UPDATE {schema}.servers SET pauses = greatest(pauses + 1, pauses_changed_at) WHERE project = a_project;
  END IF;
  RETURN answers;
END $$;
`;

/** All functions. Their rights are granted, not inherited by everybody. */
export const FUNCTIONS = `${COMMON}${SESSIONS}${LOCKS}REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} FROM PUBLIC;`;
