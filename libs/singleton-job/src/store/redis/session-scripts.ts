import { COMMON, RUN_ID, script } from './script.js';

const SESSIONS = `
local sessions, server, changes = KEYS[1], KEYS[2], KEYS[3]
redis.call('ZREM', sessions, '')
local function setEnd(session, score) redis.call('ZADD', sessions, int(score), session) end
local function replicaAndExpiry(session)
  local replica, expiry = string.match(session, '^(.*)%.%d+@(%d+)$')
  return replica, tonumber(expiry) or 0
end
local version, hasNewVersion = 0, false
-- after a session was listed or marked as ended; all changes of one step have the same version
local function noteChange(session)
  if not hasNewVersion then
    -- a time, because a count would repeat itself on restored data
    version, hasNewVersion = math.max(version + 1, now), true
    redis.call('HSET', server, 'version', int(version))
  end
  redis.call('ZADD', changes, int(version), session)
end
`;

/**
 * KEYS: the sorted set of sessions, the hash of the server, the sorted set of changes.
 * ARGV: known version and since, then id, lockExpiry and confirmed end of each session of the replica.
 *
 * The score of a session is its end. The score of an ended session is minus its last confirmed end. In the set of changes its score is the
 * version in which it was listed or ended.
 */
export const HEARTBEAT = script(
  'heartbeat',
  `${COMMON}${RUN_ID}${SESSIONS}
local function each(from, to, visit)
  local members = redis.call('ZRANGEBYSCORE', sessions, from, to, 'WITHSCORES')
  for i = 1, #members, 2 do visit(members[i], tonumber(members[i + 1])) end
end

local function firstEnds(after, skipped, limit)
  return redis.call('ZRANGEBYSCORE', sessions, '(' .. int(after), '+inf', 'WITHSCORES', 'LIMIT', skipped, limit)
end

local fields = redis.call('HMGET', server, 'runId', 'since', 'seen', 'pauses', 'version')
local since, seen, pauses = tonumber(fields[2]), tonumber(fields[3]), tonumber(fields[4]) or 0
version = tonumber(fields[5]) or 0
redis.call('HSET', server, 'seen', int(now))
local isClockBack = seen and now < seen
local isRestart = runId ~= '' and runId ~= fields[1]

-- Steps 1 to 4 usually have nothing to do. Only sessions up to now can be old enough to be removed, or not be marked yet. The shortest
-- life of a lock is 35 s.
local oldest = 70000 - now
-- the reading replica is often the first, because its last heartbeat is the oldest
local upcoming = firstEnds(oldest, 0, 2)
if isClockBack or isRestart or (upcoming[2] and tonumber(upcoming[2]) <= now) then
  upcoming = nil

  -- 1. after the clock was set back, shorten lives that are longer than any heartbeat gives
  if isClockBack then
    each('-inf', '+inf', function(session, score)
      local _, expiry = replicaAndExpiry(session)
      setEnd(session, score > 0 and math.min(score, now + expiry) or math.max(score, -now))
    end)
  end

  -- 2. remove sessions that ended two lives of a lock ago
  each('(' .. int(oldest), '(0', function(session, score)
    local _, expiry = replicaAndExpiry(session)
    if now + score > 2 * math.max(expiry + 20000, 35000) then
      redis.call('ZREM', sessions, session)
      redis.call('ZREM', changes, session)
    end
  end)

  -- 3. after a restart, give a full life to every session that is not marked as ended
  if isRestart then
    since = now
    redis.call('HSET', server, 'runId', runId, 'since', int(since))
    each('(0', '+inf', function(session)
      local _, expiry = replicaAndExpiry(session)
      setEnd(session, now + expiry)
    end)
  end

  -- 4. mark sessions that have ended
  each('(0', now, function(session, score)
    setEnd(session, -score)
    noteChange(session)
  end)
end
if runId == '' then since = 0 end

-- 5. set the ends of this replica's sessions
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
    if not listed then noteChange(session) end
    table.insert(results, { (listed or not confirmedEnd) and 'extended' or 'listed-again', now + expiry })
  end
  own, watched[expiry] = own or replicaAndExpiry(session), true
end

-- one of the two sets was deleted
local count = redis.call('ZCARD', sessions)
if redis.call('ZCARD', changes) ~= count then
  for _, session in ipairs(redis.call('ZRANGE', changes, 0, -1)) do
    if not redis.call('ZSCORE', sessions, session) then redis.call('ZREM', changes, session) end
  end
  each('-inf', '+inf', function(session)
    if not redis.call('ZSCORE', changes, session) then noteChange(session) end
  end)
end

-- the next end of a session of another replica with the same lockExpiry; usually among the first
local function nextEnd(ends, following)
  for i = 1, #ends, 2 do
    local replica, expiry = replicaAndExpiry(ends[i])
    if replica ~= own and watched[expiry] then return tonumber(ends[i + 1]) end
  end
  return #ends > 0 and nextEnd(firstEnds(0, following, 10), following + 10)
end

local known, list = tonumber(ARGV[1]), {}
-- a later version than the stored one is from before a loss of data
local isWhole = not known or known > version or ARGV[2] ~= int(since)
if isWhole then
  list = redis.call('ZRANGE', sessions, 0, -1, 'WITHSCORES')
elseif known < version then
  for _, session in ipairs(redis.call('ZRANGEBYSCORE', changes, '(' .. int(known), '+inf')) do
    local score = redis.call('ZSCORE', sessions, session)
    -- a session that is in one set only shows in the number of sessions
    if score then
      table.insert(list, session)
      table.insert(list, score)
    end
  end
end
-- the sessions of this replica have moved since the first look, so the second begins with the first session again
local nextOfOthers = own and nextEnd(upcoming or firstEnds(0, 0, 2), 0)
return { now, results, runId, since, version, nextOfOthers or false, list, isWhole and 1 or 0, count, pauses }
`,
);

/** KEYS: the sorted set of sessions, the hash of the server, the sorted set of changes. ARGV: id and confirmed end of the session. */
export const END_SESSION = script(
  'endSession',
  `${COMMON}${SESSIONS}
local session = ARGV[1]
local score = tonumber(redis.call('ZSCORE', sessions, session)) or tonumber(ARGV[2]) or now
if score > 0 then
  version = tonumber(redis.call('HGET', server, 'version')) or 0
  setEnd(session, -score)
  noteChange(session)
end
return now
`,
);
