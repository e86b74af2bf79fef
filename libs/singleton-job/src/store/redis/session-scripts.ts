import { SESSION_LISTED_MS } from '../lock-store.js';
import { COMMON, RUN_ID, script } from './script.js';

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
