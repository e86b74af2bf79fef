import { describe, expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import { StoreError } from '../../base/errors/store.error.js';
import { hintsMissing } from '../hints.js';
import { CONNECTION_LOST, type FailedRequest, NOT_THE_PRIMARY, redisError, says } from './redis-errors.js';
import { evictionWarning, restartsHidden } from './server-check.js';

const SYNC: FailedRequest = { projectName: 'myapp', kind: 'server', command: 'sync' };
const SYNC_ON_CLUSTER: FailedRequest = { ...SYNC, kind: 'cluster' };
const CONNECTION: FailedRequest = { projectName: 'myapp', kind: 'server' };
const SHA = '53eb74aa4cfd13a44b43b408f8fd91a025b94495';
const IN_A_SCRIPT = `ERR Error running script (call to f_${SHA}): @user_script: 9: `;

/** What Redis or the network says about a heartbeat, or about the connection. */
const MESSAGES: readonly (readonly [said: string, about: FailedRequest])[] = [
  ['connect ECONNREFUSED 127.0.0.1:6379', CONNECTION],
  ['WRONGPASS invalid username-password pair or user is disabled.', CONNECTION],
  [
    'NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used',
    CONNECTION,
  ],
  ['MOVED 3660 127.0.0.1:7303', SYNC],
  ['MOVED 3660 127.0.0.1:7303', SYNC_ON_CLUSTER],
  ['Too many Cluster redirections. Last error: ReplyError: TRYAGAIN Multiple keys request', SYNC_ON_CLUSTER],
  [
    'Failed to refresh slots cache. (ERR This instance has cluster support disabled)',
    { projectName: 'myapp', kind: 'cluster' },
  ],
  ["NOPERM this user has no permissions to run the 'eval' command", SYNC],
  ["NOPERM this user has no permissions to run the 'cluster|slots' command", SYNC_ON_CLUSTER],
  ['NOPERM this user has no permissions to access one of the keys used as arguments', SYNC],
  [`${IN_A_SCRIPT}@user_script: 9: -NOPERM this user has no permissions to access one of the keys`, SYNC],
  ['NOPERM No permissions to access a channel', { ...SYNC, command: 'subscribe' }],
  ["NOPERM this user has no permissions to run the 'select' command", CONNECTION],
  [`WRONGTYPE Operation against a key holding the wrong kind of value script: ${SHA}, on @user_script:10.`, SYNC],
  [`${IN_A_SCRIPT}The user executing the script can't run this command or subcommand`, SYNC],
  [`ERR The user executing the script can't run this command or subcommand script: ${SHA}, on @user_script:9.`, SYNC],
  [
    `ERR ACL failure in script: User app has no permissions to run the 'time' command script: ${SHA}, on @user_script:9.`,
    SYNC,
  ],
  ["READONLY You can't write against a read only replica.", CONNECTION],
  ["OOM command not allowed when used memory > 'maxmemory'.", SYNC],
  ['ERR max number of clients reached', CONNECTION],
  ['NOREPLICAS Not enough good replicas to write.', SYNC],
  ['NOPROTO unsupported protocol version', CONNECTION],
  ['ERR DB index is out of range', CONNECTION],
  ['ERR This Redis command is not allowed from script script: 6f2, on @user_script:2.', SYNC],
  ["ERR unknown command 'eval', with args beginning with: '\nredis.call('ZREM'", SYNC],
  ["ERR unknown command 'mget', with args beginning with: ", SYNC],
  ['All sentinels are unreachable and retry is disabled. Last error: ERR No such master with that name', CONNECTION],
  ['self-signed certificate', CONNECTION],
  ['Protocol error, got "H" as reply type byte. Please report this.', CONNECTION],
  ['no answer within 1.5 s', SYNC],
];

/** What is not in {@link MESSAGES}: whether a person has to act, and what for. */
const CODES: readonly (readonly [code: StoreError['code'], said: string])[] = [
  ['STORE_MISCONFIGURED', 'ERR invalid password'],
  ['STORE_MISCONFIGURED', "CROSSSLOT Keys in request don't hash to the same slot"],
  ['STORE_MISCONFIGURED', 'ERR Unknown Redis command called from script script: 6f2, on @user_script:9.'],
  ['STORE_MISCONFIGURED', 'ERR SELECT is not allowed in cluster mode'],
  ['STORE_MISCONFIGURED', 'ERR scripting support is disabled'],
  [
    'STORE_REFUSED_WRITE',
    'MISCONF Redis is configured to save RDB snapshots, but is currently unable to persist on disk.',
  ],
  ['STORE_UNREACHABLE', 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.'],
];

describe('an error of Redis', () => {
  it.each(MESSAGES)('says what to do about it: %s', (said, about) => {
    const { code, message } = redisError(new Error(said), about);
    expect(`${code}: ${message}`).toMatchSnapshot();
  });

  it.each(CODES)('is %s: %s', (code, said) => {
    expect(redisError(new Error(said), SYNC).code).toBe(code);
  });

  it('says whether a request was sent', () => {
    expect([SYNC, CONNECTION].map((about) => redisError(new Error('gone'), about).wasSent)).toEqual([true, false]);
  });

  it('keeps its cause, but not the arguments of the command', () => {
    const command = { name: 'hello', args: ['3', 'AUTH', 'default', 's3cret'] };
    const refused = Object.assign(new Error('WRONGPASS invalid username-password pair'), { command });
    const ofAll = Object.assign(new Error('Failed to refresh slots cache.'), { lastNodeError: refused, command });
    const error = redisError(ofAll, SYNC_ON_CLUSTER);
    expect(error).toMatchObject({
      cause: ofAll,
      code: 'STORE_MISCONFIGURED',
      message: expect.stringContaining('Failed to refresh slots cache. (WRONGPASS invalid username-password pair)'),
    });
    expect(inspect(error, { depth: 10 })).not.toContain('s3cret');
  });

  it('without a message shows its code, and one that is no error its text', () => {
    const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(redisError(refused, SYNC).message).toBe("Redis did not answer 'sync': ECONNREFUSED");
    expect(redisError('gone', SYNC).message).toBe("Redis did not answer 'sync': 'gone'");
  });

  it('that is a StoreError is not changed', () => {
    const sorted = new StoreError('STORE_REFUSED_WRITE', 'full');
    expect(redisError(sorted, SYNC)).toBe(sorted);
  });

  it('shows a server that is not the primary, also inside a script, or has not loaded its data', () => {
    for (const said of ['READONLY You', 'ERR Error running script: -READONLY You', 'MASTERDOWN Link', 'LOADING Redis'])
      expect(says(new Error(said), NOT_THE_PRIMARY)).toBe(true);
    expect(says(new Error('BUSY Redis is busy running a script.'), NOT_THE_PRIMARY)).toBe(false);
  });

  it('of a connection that was never ready may be about TLS', () => {
    const texts = (said: string) =>
      (['tls', 'plain', 'server'] as const).map((kind) => redisError(new Error(said), { ...CONNECTION, kind }).message);
    expect(['connect ETIMEDOUT', 'read ECONNRESET', 'the connection was closed'].map(texts)).toMatchSnapshot();
  });

  it.each([
    'Connection is closed.',
    "Stream isn't writeable and enableOfflineQueue options is false",
    "Cluster isn't ready and enableOfflineQueue options is false",
    'Command aborted due to connection close',
    'Cluster is ended.',
  ])('may say only that the connection ended: %s', (said) => {
    expect(says(new Error(said), CONNECTION_LOST)).toBe(true);
  });
});

describe('a warning of the Redis store', () => {
  it('says what to do', () => {
    const denied = hintsMissing('Redis', "Redis answered 'subscribe' with NOPERM");
    expect([
      evictionWarning('allkeys-lru'),
      evictionWarning('volatile-ttl'),
      restartsHidden('NOPERM'),
      restartsHidden('no run_id'),
      denied,
    ]).toMatchSnapshot();
  });
});
