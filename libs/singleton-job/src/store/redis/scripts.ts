import { createHash } from 'node:crypto';
import { CLAIM_LEAD_MS } from '../lock-store.js';

/** A step that Redis takes at once: KEYS are the lock and its state, ARGV[1] is the holder. */
export interface Script {
  readonly name: string;
  readonly source: string;
  readonly sha: string;
}

// Numbers are written with '%.0f', because Lua would print a large one with an exponent.
const COMMON = `
local lock, state, holder = KEYS[1], KEYS[2], ARGV[1]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function int(number) return string.format('%.0f', number) end
-- changes nothing: a server that takes no writes must not answer as one that does
local function showThatItWrites() redis.call('HDEL', state, '') end
`;

// ARGV[2], [3] and [4] are ran, the age of end and last, each '' when it did not change.
const PROGRESS = `
local function stored(field) return tonumber(redis.call('HGET', state, field)) end
local function raise(field, value)
  local old = stored(field)
  if old and old >= value then return false end
  redis.call('HSET', state, field, int(value))
  return true
end
local function raiseLast(value)
  if raise('last', value) then redis.call('HDEL', state, 'by') end
end
local function record()
  if ARGV[2] ~= '' then
    local ran = tonumber(ARGV[2])
    -- whoever settles so far has accounted for what was replaced
    if ran >= (stored('ran') or 0) then redis.call('HDEL', state, 'raised') end
    raise('ran', ran)
    -- settled is claimed, also where a failover has lost the claim
    raiseLast(ran)
  end
  if ARGV[3] ~= '' then raise('end', now - tonumber(ARGV[3])) end
  if ARGV[4] ~= '' then raiseLast(tonumber(ARGV[4])) end
end
`;

/**
 * ARGV: holder, lockExpiry, schedule, then what was seen: highest token, newest last, newest ran, schedule; life of the state
 * or ''. Reads everything before it writes anything, so that a held lock is answered by a full server too, which refuses no HDEL. The
 * field `raised` keeps what raising `last` replaced until a leader has accounted for it: a grant may never be spent.
 */
export const ACQUIRE = script(
  'acquire',
  `${COMMON}
local expiry, schedule, seenToken = ARGV[2], ARGV[3], tonumber(ARGV[4])
local seenLast, seenRan, seenSchedule = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
local old = redis.call('HMGET', state, 'token', 'born', 'last', 'ran', 'by', 'end', 'schedule', 'raised')
local token, born, last, ran = tonumber(old[1]) or 0, tonumber(old[2]), tonumber(old[3]), tonumber(old[4])
local by, ended, raised = old[5] or '', tonumber(old[6]), old[8] or ''
local found = redis.call('GET', lock)

if found and found ~= holder then
  showThatItWrites()
  -- a claim that was lost stands while somebody knows of it; what a foreign holder keeps no account of nobody has to report
  if last and seenLast > last and string.find(found, '#', 1, true) then
    redis.call('HDEL', state, 'by')
    redis.call('HSET', state, 'last', int(seenLast))
    if ran and seenRan > ran then
      redis.call('HSET', state, 'ran', int(seenRan))
      ran = seenRan
    end
    last = seenLast
  end
  local ttl = redis.call('PTTL', lock)
  local mended = ttl < 0
  if mended then
    redis.call('PEXPIRE', lock, expiry)
    ttl = tonumber(expiry)
  end
  -- what was replaced nobody has accounted for yet
  local settled = tonumber(string.match(raised, '^[^|]*|([^|]*)')) or ran or 0
  return { 0, found, ttl, token, last or 0, settled, born or 0, now, mended and 1 or 0, old[7] or '' }
end

if found then
  redis.call('PEXPIRE', lock, expiry)
else
  redis.call('SET', lock, holder, 'NX', 'PX', expiry)
end
if not (found and token > 0 and token >= seenToken) then
  token = math.max(token + 1, now, seenToken + 1)
end

born = born or now
local oldLast = last or now
local newLast = math.max(oldLast, seenLast)
-- a state that this bidder has seen is gone: what became of the occurrences since is for the next leader to say
local isLost = not last and seenRan > 0
if not ran then
  ran = oldLast
  if isLost then ran = math.min(seenRan, newLast) end
  -- a state that began with a claim: whether its run began nobody has confirmed
  if last and by ~= '' then ran = last - 1 end
end
local before = old[7] or isLost and seenSchedule ~= '' and seenSchedule
local differs = before and before ~= schedule
if differs then
  newLast = math.max(newLast, now)
  ended = nil
  redis.call('HDEL', state, 'end')
end
if raised ~= '' and differs then
  raised = string.gsub(raised, '^([^|]*|[^|]*|[^|]*|)0', '%11')
elseif raised == '' and (differs or last and before and newLast ~= last) then
  raised = table.concat({ int(last or ran), int(ran), before, differs and '1' or '0', by }, '|')
end
if newLast ~= last then
  by = ''
  redis.call('HDEL', state, 'by')
end
if differs or last and newLast ~= last then ran = math.max(ran, newLast) end

redis.call('HSET', state, 'token', int(token), 'born', int(born), 'last', int(newLast), 'ran', int(ran), 'schedule', schedule)
if raised ~= '' then redis.call('HSET', state, 'raised', raised) end
if ARGV[8] ~= '' then redis.call('PEXPIRE', state, ARGV[8]) end
return { 1, token, newLast, ran, by, ended and math.max(now - ended, 0) or -1, born, now, raised }
`,
);

/** ARGV: holder, progress, lockExpiry. PEXPIRE comes first: a full server refuses what follows unless something was written. */
export const RENEW = script(
  'renew',
  `${COMMON}${PROGRESS}
if redis.call('GET', lock) ~= holder then return { 0, now } end
redis.call('PEXPIRE', lock, ARGV[5])
record()
return { 1, now }
`,
);

/** ARGV: holder, progress, lockExpiry, token, scheduledAt. */
export const CLAIM = script(
  'claim',
  `${COMMON}${PROGRESS}
if redis.call('GET', lock) ~= holder then return { 'not-leader', stored('last') or 0, now } end
redis.call('PEXPIRE', lock, ARGV[5])
record()
local by, scheduledAt, last = holder .. ' ' .. ARGV[6], tonumber(ARGV[7]), stored('last') or 0
if scheduledAt > now + ${String(CLAIM_LEAD_MS)} then return { 'too-early', last, now } end
if scheduledAt == last and redis.call('HGET', state, 'by') == by then return { 'mine', last, now } end
if scheduledAt <= last then return { 'taken', last, now } end
redis.call('HSET', state, 'last', int(scheduledAt), 'by', by)
return { 'claimed', scheduledAt, now }
`,
);

/** ARGV: holder, progress, channel or '' to be quiet, message. Answers with the number of receivers, -1 if it told nobody, and why. */
export const RELEASE = script(
  'release',
  `${COMMON}${PROGRESS}
if redis.call('GET', lock) ~= holder then
  showThatItWrites()
  return { 0, now, -1, '' }
end
redis.call('DEL', lock)
record()
local receivers, refusal = -1, ''
if ARGV[5] ~= '' then
  local told = redis.pcall('PUBLISH', ARGV[5], ARGV[6])
  if type(told) == 'number' then receivers = told else refusal = told['err'] or '' end
end
return { 1, now, receivers, refusal }
`,
);

/** All of them. */
export const SCRIPTS: readonly Script[] = [ACQUIRE, RENEW, CLAIM, RELEASE];

function script(name: string, body: string): Script {
  const source = body.trim();
  return { name, source, sha: createHash('sha1').update(source).digest('hex') };
}
