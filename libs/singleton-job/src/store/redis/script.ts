import { createHash } from 'node:crypto';

/**
 * One atomic step of Redis. Its first write is a removal that removes nothing. A read-only server refuses it, so it never answers a
 * request. A full server accepts a removal, and then all later writes of the script.
 */
export interface Script {
  readonly name: string;
  readonly source: string;
  readonly sha: string;
}

// Lua would write a large number with an exponent.
export const COMMON = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function int(number) return string.format('%.0f', number) end
`;

// '' where INFO is not permitted
export const RUN_ID = `
local info = redis.pcall('INFO', 'server')
-- the plain search first, because a pattern is matched slowly along the whole text
local runId = type(info) == 'string' and string.match(info, 'run_id:(%w+)', (string.find(info, 'run_id:', 1, true))) or ''
`;

/** A script with the hash by which Redis knows it. */
export function script(name: string, body: string): Script {
  const source = body.trim();
  return { name, source, sha: createHash('sha1').update(source).digest('hex') };
}
