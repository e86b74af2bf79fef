/**
 * The two scripts of the Redis store. Their first write is a removal that removes nothing: a read-only server refuses
 * it, so it never answers a request; a full server accepts it, and then all later writes of the script.
 *
 * `KEYS[1]` is a sorted set: each lease with its end as its score, and the incarnation with the score -1 if it is the
 * first, else 0. So they can only be lost together. A record is a string: `revision {json}`.
 *
 * `int`: Lua would write a large number with an exponent. `server`: a restart changes the first part, a promotion the
 * second; both bring other data. Redis 6.2 answers one section of INFO at a time. The plain search for a field comes
 * first, because a pattern is matched slowly along the whole text. `isOther`: another server noted the incarnation; a
 * user who may not see the server compares nothing.
 */
const COMMON = `
redis.call('ZREM', KEYS[1], '')
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function int(number) return string.format('%.0f', number) end
local function find(section, field)
  local info = redis.pcall('INFO', section)
  if type(info) ~= 'string' then return '', info.err end
  return string.match(info, field .. ':(%w+)', (string.find(info, field .. ':', 1, true))) or '', 'no ' .. field
end
local server, hidden = find('server', 'run_id')
if server ~= '' then server, hidden = server .. '-' .. find('replication', 'master_replid'), '' end
local incarnation, score = unpack(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', 0, 'WITHSCORES'))
local isOther = incarnation and server ~= '' and string.match(incarnation, '^(.*)/') ~= server
`;

/**
 * KEYS: leases. ARGV: 'observes' if the request notes nothing, 'newcomer' or 'knows'; then pairs of 'renew', 'grant' or
 * 'revoke' and a lease. Returns the time, the incarnation, whether it is the first, why the server is hidden, and pairs
 * of a lease and how long it still lives.
 */
export const SYNC = `${COMMON}
if isOther and ARGV[1] == 'observes' then incarnation, score = nil end
if ARGV[1] ~= 'observes' and (isOther or not incarnation) then
  score = not incarnation and ARGV[1] == 'newcomer' and '-1' or '0'
  redis.call('ZREM', KEYS[1], incarnation or '')
  incarnation = server .. '/' .. int(now)
  redis.call('ZADD', KEYS[1], score, incarnation)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '(0', int(now))
local function ttlOf(lease) return tonumber(string.match(lease, '@(%d+)$')) end
for i = 2, #ARGV, 2 do
  local action, lease = ARGV[i], ARGV[i + 1]
  local stop = int(now + ttlOf(lease))
  if action == 'renew' then redis.call('ZADD', KEYS[1], 'XX', stop, lease) end
  if action == 'grant' then redis.call('ZADD', KEYS[1], stop, lease) end
  if action == 'revoke' then redis.call('ZREM', KEYS[1], lease) end
end
local leases = redis.call('ZRANGEBYSCORE', KEYS[1], '(0', '+inf', 'WITHSCORES')
for i = 1, #leases, 2 do
  local lease, ttl = leases[i], ttlOf(leases[i])
  leases[i + 1] = leases[i + 1] - now
  if ttl and leases[i + 1] > ttl then
    leases[i + 1] = ttl
    redis.call('ZADD', KEYS[1], int(now + ttl), lease)
  end
end
return { now, incarnation or '', score == '-1' and 1 or 0, hidden, leases }
`;

/**
 * KEYS: leases, records. ARGV: incarnation, until; then for each record its revision, its new value, and how many
 * milliseconds until it may be forgotten, or ''. Returns the new revisions, nil for what was not written. A key of
 * another type has no revision.
 */
export const COMPARE_AND_SET = `${COMMON}
local isCurrent = incarnation == ARGV[1] and not isOther and now < tonumber(ARGV[2])
local revisions = {}
for i = 2, #KEYS do
  local ifRevision, value, forgetAfter = unpack(ARGV, 3 * i - 3, 3 * i - 1)
  local stored = redis.pcall('GET', KEYS[i])
  local revision = not stored and '0' or type(stored) == 'string' and string.match(stored, '^(%d+) ')
  revisions[i - 1] = false
  if isCurrent and revision == ifRevision then
    revisions[i - 1] = int(math.max(revision + 1, now))
    local expiry = forgetAfter == '' and {} or { 'PX', forgetAfter }
    redis.call('SET', KEYS[i], revisions[i - 1] .. ' ' .. value, unpack(expiry))
  end
end
return revisions
`;
