import { CLAIM_LEAD_MS } from '../lock-store.js';
import { COMMON, RUN_ID, type Script, script } from './script.js';
import { END_SESSION, HEARTBEAT } from './session-scripts.js';

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
 * KEYS: lock, state and, where it is on the same server, the hash of the server. ARGV: holder, life of the lock, seen token, ended session,
 * run id and since of the heartbeat, known state, not before, is a first start, life of the state. '' means unknown.
 */
export const ACQUIRE = script(
  'acquire',
  `${COMMON}${RUN_ID}${LOCK}${HOLDER}
local life, seenToken, endedSession, knownRunId, knownSince = ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
local knownStateCreatedAt, notBefore, isFirstStart, stateLife = ARGV[7], tonumber(ARGV[8]), ARGV[9] == '1', ARGV[10]
local fields = redis.call('HMGET', state, 'token', 'createdAt', 'paused', 'claimed', 'claimedBy', 'handled', 'slot', 'runStartedAt',
  'runEndedAt', 'schedule', 'lastRun')
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

// ARGV[2] to [8]: claimed, handled, slot, runStartedAt, runEndedAt, schedule and lastRun, '' keeps a field as it is.
const RECORD = `
local NUMBERS = { 'claimed', 'handled', 'slot', 'runStartedAt', 'runEndedAt' }
local function pausedAt() return tonumber(redis.call('HGET', state, 'paused')) end
-- returns when the job was paused
local function record()
  local fields = redis.call('HMGET', state, 'paused', 'schedule', 'lastRun', unpack(NUMBERS))
  local function raise(i, given)
    if not given then return end
    local stored = tonumber(fields[i + 3]) or -1
    local newest = math.max(stored, given)
    -- no run began or ended in the future: the clock may have been set back
    if i > 3 then newest = math.min(newest, now) end
    if newest == stored then return end
    redis.call('HSET', state, NUMBERS[i], int(newest))
    if i == 1 then redis.call('HDEL', state, 'claimedBy') end
  end
  local claimed, handled = tonumber(ARGV[2]), tonumber(ARGV[3])
  -- a handled occurrence counts as claimed
  raise(1, claimed and handled and math.max(claimed, handled) or claimed or handled)
  for i = 2, #NUMBERS do raise(i, tonumber(ARGV[i + 1])) end
  if ARGV[7] ~= '' and ARGV[7] ~= fields[2] then redis.call('HSET', state, 'schedule', ARGV[7]) end
  if ARGV[8] > (fields[3] or '') then redis.call('HSET', state, 'lastRun', ARGV[8]) end
  return tonumber(fields[1])
end
`;

/** KEYS: lock, state. ARGV: holder, update, life of the lock, life of the state or ''. */
export const RENEW = script(
  'renew',
  `${COMMON}${LOCK}${HOLDER}${RECORD}
if current ~= holder then return { 0, current, now, pausedAt() } end
redis.call('PEXPIRE', lock, ARGV[9])
local paused = record()
if ARGV[10] ~= '' then redis.call('PEXPIRE', state, ARGV[10]) end
return { 1, current, now, paused }
`,
);

/** KEYS: lock, state. ARGV: holder, update, life of the lock, token, occurrence. */
export const CLAIM = script(
  'claim',
  `${COMMON}${LOCK}${HOLDER}${RECORD}
local function newestClaimed() return tonumber(redis.call('HGET', state, 'claimed')) or 0 end
if current ~= holder then return { 'not-leader', newestClaimed(), current, now, pausedAt() } end
redis.call('PEXPIRE', lock, ARGV[9])
local paused = record()
local claimedBy, scheduledAt, newest = holder .. ' ' .. ARGV[10], tonumber(ARGV[11]), newestClaimed()
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
local published = redis.pcall('PUBLISH', ARGV[9], ARGV[10])
return { 1, now, type(published) == 'table' and published.err or '' }
`,
);

const PAUSES = `
local function raisePauses(server)
  -- a time, because a count would repeat itself on restored data
  local version = math.max((tonumber(redis.call('HGET', server, 'pauses')) or 0) + 1, now)
  redis.call('HSET', server, 'pauses', int(version))
end
`;

/** KEYS: lock, state and, where it is on the same server, the hash of the server. ARGV: 1 to pause, 0 to resume. */
export const SET_PAUSED = script(
  'setPaused',
  `${COMMON}${LOCK}${PAUSES}
local paused, hasChanged = tonumber(redis.call('HGET', state, 'paused')), false
if ARGV[1] == '0' then
  hasChanged = redis.call('HDEL', state, 'paused') == 1
  paused = nil
elseif not paused then
  redis.call('HSET', state, 'paused', int(now))
  paused, hasChanged = now, true
end
if hasChanged and KEYS[3] then raisePauses(KEYS[3]) end
return { now, current, paused }
`,
);

/** KEYS: the hash of the server. Follows SET_PAUSED on a cluster, where the hash may be on another node than the lock. */
export const RAISE_PAUSES = script(
  'raisePauses',
  `${COMMON}${PAUSES}
redis.call('HDEL', KEYS[1], '')
raisePauses(KEYS[1])
return now
`,
);

/** All of them. */
export const SCRIPTS: readonly Script[] = [
  ...[HEARTBEAT, END_SESSION],
  ...[ACQUIRE, RENEW, CLAIM, RELEASE, SET_PAUSED, RAISE_PAUSES],
];
