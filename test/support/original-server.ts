import { type Redis } from 'ioredis';

/** The lock of one job as one node of the original asks for it. */
export interface OriginalLock {
  /** `{project}:{job}:lock`, without braces. */
  readonly key: string;
  /** The whole value of the lock: one for the life of the process. */
  readonly nodeId: string;
  readonly expiryMs: number;
}

/** What the original asks of Redis: each is one command or one script. A rejection is an error of the client. */
export interface OriginalServer {
  /** 1.0.0: SET NX PX. Whether it was set. */
  readonly setIfFree: (lock: OriginalLock) => Promise<boolean>;
  /** 1.0.0: extends the lock if it is this node's. */
  readonly renewIfMine: (lock: OriginalLock) => Promise<boolean>;
  /** main: takes the lock if it is free, extends it if it is this node's. */
  readonly acquireOrRenew: (lock: OriginalLock) => Promise<boolean>;
  /** Both: deletes the lock if it is this node's. */
  readonly release: (lock: OriginalLock) => Promise<boolean>;
}

const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

const ACQUIRE_OR_RENEW = `
local found = redis.call('GET', KEYS[1])
if not found then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
if found ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/** The original's commands on a real Redis. */
export function originalRedis(redis: Redis): OriginalServer {
  const yes = async (script: string, { key, nodeId }: OriginalLock, ...more: number[]): Promise<boolean> =>
    (await redis.eval(script, 1, key, nodeId, ...more)) === 1;
  return {
    setIfFree: async ({ key, nodeId, expiryMs }) => (await redis.set(key, nodeId, 'PX', expiryMs, 'NX')) === 'OK',
    renewIfMine: (lock) => yes(RENEW, lock, lock.expiryMs),
    acquireOrRenew: (lock) => yes(ACQUIRE_OR_RENEW, lock, lock.expiryMs),
    release: (lock) => yes(RELEASE, lock),
  };
}

/** The same, out of reach while it is cut off: every call fails at once. */
export function unlessCut(isCut: () => boolean, server: OriginalServer): OriginalServer {
  const reach = <T>(ask: (lock: OriginalLock) => Promise<T>) => {
    return (lock: OriginalLock): Promise<T> => (isCut() ? Promise.reject(new Error('cut off')) : ask(lock));
  };
  return {
    setIfFree: reach(server.setIfFree),
    renewIfMine: reach(server.renewIfMine),
    acquireOrRenew: reach(server.acquireOrRenew),
    release: reach(server.release),
  };
}
