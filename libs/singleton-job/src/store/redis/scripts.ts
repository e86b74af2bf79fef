import { createHash } from 'node:crypto';
import { CLAIM_LEAD_MS, SESSION_LISTED_MS } from '../lock-store.js';

/** One atomic step of Redis. */
export interface Script {
  readonly name: string;
  readonly source: string;
  readonly sha: string;
}

// Lua would write a large number with an exponent.
const COMMON = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function int(number) return string.format('%.0f', number) end
`;

// '' where INFO is not permitted
const RUN_ID = `
local info = redis.pcall('INFO', 'server')
local runId = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
`;

// The first write of each script is a removal that removes nothing. A read-only server refuses it, so it never answers a request.
// A full server accepts a removal, and then all later writes of the script.
const SESSIONS = `
local sessions, server = KEYS[1], KEYS[2]
redis.call('ZREM', sessions, '')
local function setEnd(session, score) redis.call('ZADD', sessions, int(score), session) end
local function replicaAndExpiry(session)
  local replica, expiry = string.match(session, '^(.*)%.%d+@(%d+)$')
  return replica, tonumber(expiry) or 0
end
-- after a session was listed, marked as ended or removed
local function saveVersion()
  -- a time, because a count would repeat itself on restored data
  local version = math.max((tonumber(redis.call('HGET', server, 'version')) or 0) + 1, now)
  local counted, replicas = {}, 0
  for _, session in ipairs(redis.call('ZRANGEBYSCORE', sessions, '(0', '+inf')) do
    local replica = replicaAndExpiry(session)
    if replica and not counted[replica] then counted[replica], replicas = true, replicas + 1 end
  end
  redis.call('HSET', server, 'version', int(version), 'replicas', replicas)
  return version, replicas
end
`;

const LOCK = `
local lock, state = KEYS[1], KEYS[2]
redis.call('HDEL', state, '')
-- its holder; false: the lock is free
local current = redis.call('GET', lock)
`;

const HOLDER = `
local holder = ARGV[1]
`;

/**
 * KEYS: the sorted set of sessions, the hash of the server.
 * ARGV: known version and since, then id, lockExpiry and confirmed end of each session of the replica.
 *
 * The score of a session is its end. The score of an ended session is minus its last confirmed end.
 */
export const HEARTBEAT = script(
  'heartbeat',
  `${COMMON}${RUN_ID}${SESSIONS}
local hasChanged = false
local function each(from, to, visit)
  local members = redis.call('ZRANGEBYSCORE', sessions, from, to, 'WITHSCORES')
  for i = 1, #members, 2 do visit(members[i], tonumber(members[i + 1])) end
end

-- 1. remove sessions that ended long ago; a lock lives 20 s longer than its session
each('(' .. int(${SESSION_LISTED_MS} - now), '(0', function(session, score)
  local _, expiry = replicaAndExpiry(session)
  if now + score > math.max(${SESSION_LISTED_MS}, 2 * (expiry + 20000)) then
    redis.call('ZREM', sessions, session)
    hasChanged = true
  end
end)

-- 2. after a break, give a full life to every session that is not marked as ended
local fields = redis.call('HMGET', server, 'runId', 'since', 'version', 'replicas')
local since, version, replicas = tonumber(fields[2]), tonumber(fields[3]), tonumber(fields[4])
local isBreak = runId ~= '' and runId ~= fields[1]
if isBreak then
  since, hasChanged = now, true
  redis.call('HSET', server, 'runId', runId, 'since', int(since))
  each('(0', '+inf', function(session)
    local _, expiry = replicaAndExpiry(session)
    setEnd(session, now + expiry)
  end)
end

-- 3. mark sessions that have ended
each('(0', now, function(session, score)
  setEnd(session, -score)
  hasChanged = true
end)

-- 4. set the ends of this replica's sessions
local results, own, watched = {}, nil, {}
for i = 3, #ARGV, 3 do
  local session, expiry, confirmedEnd = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local listed = tonumber(redis.call('ZSCORE', sessions, session))
  if listed and listed < 0 then
    table.insert(results, { 'ended', -listed })
  elseif not listed and confirmedEnd and confirmedEnd <= now then
    -- not stored as ended: this request may be late, and a later one may list the session again
    table.insert(results, { 'ended', confirmedEnd })
  else
    setEnd(session, now + expiry)
    table.insert(results, { (listed or not confirmedEnd) and 'extended' or 'listed-again', now + expiry })
  end
  hasChanged = hasChanged or not listed
  own, watched[expiry] = own or replicaAndExpiry(session), true
end

if hasChanged or not (version and replicas) then version, replicas = saveVersion() end

-- the next end of a session of another replica with the same lockExpiry; usually the first in the list
local function nextEnd()
  local from, page = 0
  repeat
    page = redis.call('ZRANGEBYSCORE', sessions, '(0', '+inf', 'WITHSCORES', 'LIMIT', from, 10)
    for i = 1, #page, 2 do
      local replica, expiry = replicaAndExpiry(page[i])
      if replica ~= own and watched[expiry] then return tonumber(page[i + 1]) end
    end
    from = from + 10
  until #page < 20
  return false
end

local list = false
if runId == '' then since = 0 end
if ARGV[1] ~= int(version) or ARGV[2] ~= int(since) then list = redis.call('ZRANGE', sessions, 0, -1, 'WITHSCORES') end
return { now, results, runId, since, version, replicas, own and nextEnd() or false, list }
`,
);

/** KEYS: the sorted set of sessions, the hash of the server. ARGV: id and confirmed end of the session. */
export const END_SESSION = script(
  'endSession',
  `${COMMON}${SESSIONS}
local session = ARGV[1]
local score = tonumber(redis.call('ZSCORE', sessions, session)) or tonumber(ARGV[2]) or now
if score > 0 then
  setEnd(session, -score)
  saveVersion()
end
return now
`,
);

/**
 * KEYS: lock, state and, where it is on the same server, the hash of the server. ARGV: holder, life of the lock, seen token, ended session,
 * run id and since of the heartbeat, known state, not before, is a first start, life of the state. '' means unknown.
 */
export const ACQUIRE = script(
  'acquire',
  `${COMMON}${RUN_ID}${LOCK}${HOLDER}
local life, seenToken, endedSession, knownRunId, knownSince = ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
local knownStateCreatedAt, notBefore, isFirstStart, stateLife = ARGV[7], tonumber(ARGV[8]), ARGV[9] == '1', ARGV[10]
local fields = redis.call('HMGET', state, 'token', 'createdAt', 'paused', 'claimed', 'claimedBy', 'handled', 'slot', 'runStartedAt',
  'runEndedAt', 'schedule')
local token, createdAt, paused = tonumber(fields[1]) or 0, tonumber(fields[2]), tonumber(fields[3])

local function sessionOf(value) return string.match(value, '^(.*%.%d+@%d+)#[^#]*$') end
local function attemptOf(value) return tonumber(string.match(value, '#(%d+)$')) end
local function mayTake()
  if not current or current == holder then return true end
  local session = sessionOf(current)
  if not session then return false end
  if session == endedSession then return true end
  return session == sessionOf(holder) and (attemptOf(current) or math.huge) < (attemptOf(holder) or 0)
end
local function isOutdated()
  if knownStateCreatedAt ~= '' and tonumber(knownStateCreatedAt) ~= createdAt then return true end
  if knownRunId == '' then return false end
  return knownRunId ~= runId or (KEYS[3] and redis.call('HGET', KEYS[3], 'since') ~= knownSince)
end
local function refusalReason()
  if not mayTake() then return 'held' end
  if paused and current ~= holder then return 'paused' end
  if isOutdated() then return 'outdated' end
  local mustWait = current ~= holder and (createdAt or not isFirstStart)
  if mustWait and now < notBefore then return 'too-early' end
end

local reason, ttl, isRestored = refusalReason(), 0, 0
if reason then
  if current then ttl = redis.call('PTTL', lock) end
  if ttl < 0 then
    redis.call('PEXPIRE', lock, life)
    ttl, isRestored = tonumber(life), 1
  end
else
  if current ~= holder or token == 0 or token < seenToken then token = math.max(token + 1, now, seenToken + 1) end
  createdAt = createdAt or now
  redis.call('SET', lock, holder, 'PX', life)
  redis.call('HSET', state, 'token', int(token), 'createdAt', int(createdAt))
  if stateLife ~= '' then redis.call('PEXPIRE', state, stateLife) end
end
return { reason or 'granted', now, runId, current, ttl, isRestored, token, createdAt or false, unpack(fields, 3) }
`,
);

// ARGV[2] to [7]: claimed, handled, slot, runStartedAt, runEndedAt and schedule, '' keeps a field as it is
const RECORD = `
local NUMBERS = { 'claimed', 'handled', 'slot', 'runStartedAt', 'runEndedAt' }
local function pausedAt() return tonumber(redis.call('HGET', state, 'paused')) end
-- returns when the job was paused
local function record()
  local fields = redis.call('HMGET', state, 'paused', 'schedule', unpack(NUMBERS))
  local function raise(i, given)
    if not given or given <= (tonumber(fields[i + 2]) or -1) then return end
    redis.call('HSET', state, NUMBERS[i], int(given))
    if i == 1 then redis.call('HDEL', state, 'claimedBy') end
  end
  local claimed, handled = tonumber(ARGV[2]), tonumber(ARGV[3])
  -- a handled occurrence counts as claimed
  raise(1, claimed and handled and math.max(claimed, handled) or claimed or handled)
  for i = 2, #NUMBERS do raise(i, tonumber(ARGV[i + 1])) end
  if ARGV[7] ~= '' and ARGV[7] ~= fields[2] then redis.call('HSET', state, 'schedule', ARGV[7]) end
  return tonumber(fields[1])
end
`;

/** KEYS: lock, state. ARGV: holder, update, life of the lock. */
export const RENEW = script(
  'renew',
  `${COMMON}${LOCK}${HOLDER}${RECORD}
if current ~= holder then return { 0, current, now, pausedAt() } end
redis.call('PEXPIRE', lock, ARGV[8])
return { 1, current, now, record() }
`,
);

/** KEYS: lock, state. ARGV: holder, update, life of the lock, token, occurrence. */
export const CLAIM = script(
  'claim',
  `${COMMON}${LOCK}${HOLDER}${RECORD}
local function newestClaimed() return tonumber(redis.call('HGET', state, 'claimed')) or 0 end
if current ~= holder then return { 'not-leader', newestClaimed(), current, now, pausedAt() } end
redis.call('PEXPIRE', lock, ARGV[8])
local paused = record()
local claimedBy, scheduledAt, newest = holder .. ' ' .. ARGV[9], tonumber(ARGV[10]), newestClaimed()
local function outcome()
  if scheduledAt > now + ${CLAIM_LEAD_MS} then return 'too-early' end
  if scheduledAt == newest and redis.call('HGET', state, 'claimedBy') == claimedBy then return 'already-ours' end
  if scheduledAt <= newest then return 'taken' end
  if paused then return 'paused' end
  redis.call('HSET', state, 'claimed', int(scheduledAt), 'claimedBy', claimedBy)
  newest = scheduledAt
  return 'claimed'
end
local result = outcome()
return { result, newest, current, now, paused }
`,
);

/** KEYS: lock, state. ARGV: holder, update, channel, message. Also returns the error of PUBLISH, '' if there is none. */
export const RELEASE = script(
  'release',
  `${COMMON}${LOCK}${HOLDER}${RECORD}
if current ~= holder then return { 0, now, '' } end
redis.call('DEL', lock)
record()
local published = redis.pcall('PUBLISH', ARGV[8], ARGV[9])
return { 1, now, type(published) == 'table' and published.err or '' }
`,
);

/** KEYS: lock, state. ARGV: 1 to pause, 0 to resume. */
export const SET_PAUSED = script(
  'setPaused',
  `${COMMON}${LOCK}
local paused = tonumber(redis.call('HGET', state, 'paused'))
if ARGV[1] == '0' then
  redis.call('HDEL', state, 'paused')
  paused = nil
elseif not paused then
  redis.call('HSET', state, 'paused', int(now))
  paused = now
end
return { now, current, paused }
`,
);

/** All of them. */
export const SCRIPTS: readonly Script[] = [HEARTBEAT, END_SESSION, ACQUIRE, RENEW, CLAIM, RELEASE, SET_PAUSED];

/** The command on a line of a script, in capitals. For a command that it does not permit, Redis names only the line. */
export function commandAt(sha: string, line: number): string | undefined {
  const source = SCRIPTS.find((script) => script.sha === sha)?.source.split('\n')[line - 1];
  return source === undefined ? undefined : /redis\.p?call\('(\w+)'/.exec(source)?.[1];
}

function script(name: string, body: string): Script {
  const source = body.trim();
  return { name, source, sha: createHash('sha1').update(source).digest('hex') };
}
