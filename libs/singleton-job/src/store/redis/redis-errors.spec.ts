import { describe, expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { isDemotion, isMisconfiguration, isUnavailable, isUnknownScript, redisError } from './redis-errors.js';
import { type FailedRequest } from './redis-fixes.js';
import { ACQUIRE } from './scripts.js';

const RENEWAL: FailedRequest = { projectName: 'myapp', isCluster: false, command: 'renew', key: 'myapp:tick:lock' };
const RENEWAL_ON_CLUSTER = { ...RENEWAL, isCluster: true };
const CONNECTION: FailedRequest = { projectName: 'myapp', isCluster: false };

/** What Redis or the network says about a renewal, or about the connection. */
const MESSAGES: readonly (readonly [said: string, about: FailedRequest])[] = [
  ['connect ECONNREFUSED 127.0.0.1:6379', CONNECTION],
  ['WRONGPASS invalid username-password pair or user is disabled.', CONNECTION],
  [
    'NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used',
    CONNECTION,
  ],
  ['MOVED 3660 127.0.0.1:7303', RENEWAL],
  ['MOVED 3660 127.0.0.1:7303', RENEWAL_ON_CLUSTER],
  [
    'Failed to refresh slots cache. (ERR This instance has cluster support disabled)',
    { projectName: 'myapp', isCluster: true },
  ],
  ["NOPERM this user has no permissions to run the 'evalsha' command", RENEWAL],
  ['NOPERM this user has no permissions to access one of the keys used as arguments', RENEWAL],
  [
    "@user_script: 38: The user executing the script can't publish to the channel mentioned in the command",
    { ...RENEWAL, command: 'publish', key: 'myapp:events' },
  ],
  ["NOPERM this user has no permissions to run the 'select' command", CONNECTION],
  [
    `WRONGTYPE Operation against a key holding the wrong kind of value script: ${ACQUIRE.sha}, on @user_script:10.`,
    RENEWAL,
  ],
  ["READONLY You can't write against a read only replica.", CONNECTION],
  ["OOM command not allowed when used memory > 'maxmemory'.", RENEWAL],
  ['NOPROTO unsupported protocol version', CONNECTION],
  ['ERR This Redis command is not allowed from script script: 6f2, on @user_script:2.', RENEWAL],
  ["ERR unknown command 'evalsha', with args beginning with: ", RENEWAL],
  ['All sentinels are unreachable and retry is disabled. Last error: ERR No such master with that name', CONNECTION],
  ['self-signed certificate', CONNECTION],
  ['no answer within 1.5 s', RENEWAL],
];

const MISCONFIGURED = [
  'NOAUTH Authentication required.',
  'NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used',
  'WRONGPASS invalid username-password pair or user is disabled.',
  'ERR invalid password',
  "NOPERM this user has no permissions to run the 'evalsha' command",
  'NOPERM No permissions to access a key script: 6f2, on @user_script:9.',
  'ERR Error running script (call to f_6f2): @user_script:9: @user_script: 9: -NOPERM this user has no permissions to access one of the keys',
  "ERR The user executing the script can't publish to the channel",
  "ERR The user executing the script can't run this command or subcommand script: 6f2, on @user_script:9.",
  'WRONGTYPE Operation against a key holding the wrong kind of value',
  'ERR Error running script (call to f_6f2): @user_script:9: WRONGTYPE Operation against a key holding the wrong kind of value',
  'MOVED 14044 10.0.0.7:6379',
  "CROSSSLOT Keys in request don't hash to the same slot",
  "ERR unknown command 'evalsha', with args beginning with: ",
  'ERR Unknown Redis command called from script script: 6f2, on @user_script:9.',
  'ERR DB index is out of range',
  'ERR This Redis command is not allowed from script script: 6f2, on @user_script:2.',
  'ERR scripting support is disabled',
];

const REFUSED = [
  "OOM command not allowed when used memory > 'maxmemory'.",
  "OOM command not allowed when used memory > 'maxmemory'. script: 6f2, on @user_script:22.",
  "ERR Error running script (call to f_6f2): @user_script:22: @user_script: 22: -OOM command not allowed when used memory > 'maxmemory'.",
  'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist on disk.',
  'NOREPLICAS Not enough good replicas to write.',
];

const UNREACHABLE = [
  'Connection is closed.',
  'connect ECONNREFUSED 127.0.0.1:6379',
  'getaddrinfo ENOTFOUND redis',
  'connect ETIMEDOUT',
  'LOADING Redis is loading the dataset in memory',
  "READONLY You can't write against a read only replica.",
  "READONLY You can't write against a read only replica. script: 6f2, on @user_script:22.",
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  'CLUSTERDOWN The cluster is down',
  'CLUSTERDOWN Hash slot not served',
  'TRYAGAIN Multiple keys request during rehashing of slot',
  'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
  'ERR max number of clients reached',
  'NOSCRIPT No matching script. Please use EVAL.',
  'UNKILLABLE Sorry the script already executed write commands against the dataset.',
];

describe('an error of Redis', () => {
  it.each(MISCONFIGURED)('waits for a person: %s', (message) => {
    expect(redisError(new Error(message), RENEWAL).code).toBe('STORE_MISCONFIGURED');
  });

  it.each(REFUSED)('is a refused write: %s', (message) => {
    expect(redisError(new Error(message), RENEWAL).code).toBe('STORE_REFUSED_WRITE');
  });

  it.each(UNREACHABLE)('goes away by itself: %s', (message) => {
    expect(redisError(new Error(message), RENEWAL).code).toBe('STORE_UNREACHABLE');
    expect(isMisconfiguration(new Error(message))).toBe(false);
  });

  it.each(MESSAGES)('says what to do about it: %s', (said, about) => {
    expect(redisError(new Error(said), about).message).toMatchSnapshot();
  });

  it('leaves out the place inside a script', () => {
    const words = "The user executing the script can't run this command or subcommand";
    const older = `ERR Error running script (call to f_${ACQUIRE.sha}): @user_script: 9: ${words}`;
    const newer = `ERR ${words} script: ${ACQUIRE.sha}, on @user_script:9.`;
    const messages = [older, newer].map((said) => redisError(new Error(said), RENEWAL).message);
    expect(messages).toMatchSnapshot();
  });

  it('goes away by itself on a cluster whose slots move', () => {
    const moved = new Error('Too many Cluster redirections. Last error: ReplyError: MOVED 14044 10.0.0.7:6379');
    expect(redisError(moved, RENEWAL_ON_CLUSTER).code).toBe('STORE_UNREACHABLE');
  });

  it('affects all jobs if a person must act, except for one key or one node of a cluster', () => {
    const affectsAllJobs = (message: string, about = RENEWAL) => redisError(new Error(message), about).affectsAllJobs;
    expect(affectsAllJobs('WRONGPASS invalid username-password pair')).toBe(true);
    expect(affectsAllJobs('MOVED 3660 127.0.0.1:7303')).toBe(true);
    expect(affectsAllJobs('OOM command not allowed')).toBe(true);
    expect(affectsAllJobs('WRONGTYPE Operation against a key holding the wrong kind of value')).toBe(false);
    expect(affectsAllJobs('NOPERM this user has no permissions', RENEWAL_ON_CLUSTER)).toBe(false);
    expect(affectsAllJobs('LOADING Redis is loading the dataset in memory')).toBe(false);
    expect(redisError('the connection was closed', { ...RENEWAL, command: undefined }).affectsAllJobs).toBe(true);
  });

  it('keeps its cause, but not the arguments of the command', () => {
    const command = { name: 'hello', args: ['3', 'AUTH', 'default', 's3cret'] };
    const refused = Object.assign(new Error('WRONGPASS invalid username-password pair'), { command });
    const ofAll = Object.assign(new Error('Failed to refresh slots cache.'), { lastNodeError: refused, command });
    const error = redisError(ofAll, RENEWAL_ON_CLUSTER);
    expect(error.cause).toBe(ofAll);
    expect(inspect(error, { depth: 10 })).not.toContain('s3cret');
  });

  it('of all nodes of a cluster has the code of the error of the last node', () => {
    const all = Object.assign(new Error('Failed to refresh slots cache.'), {
      lastNodeError: new Error('WRONGPASS invalid username-password pair'),
    });
    expect(redisError(all, RENEWAL_ON_CLUSTER)).toMatchObject({
      code: 'STORE_MISCONFIGURED',
      message: expect.stringContaining('Failed to refresh slots cache. (WRONGPASS invalid username-password pair)'),
    });
  });

  it('without a message shows its code', () => {
    const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(redisError(refused, RENEWAL).message).toBe("Redis did not answer 'renew': ECONNREFUSED");
  });

  it('that is a LockStoreError is not changed, and a value that is no error is unreachable', () => {
    const sorted = new LockStoreError('STORE_REFUSED_WRITE', 'full');
    expect(redisError(sorted, RENEWAL)).toBe(sorted);
    expect(redisError('gone', RENEWAL)).toMatchObject({
      code: 'STORE_UNREACHABLE',
      message: "Redis did not answer 'renew': gone",
    });
  });

  it('shows a demoted server, also inside a script', () => {
    expect(isDemotion(new Error("READONLY You can't write against a read only replica."))).toBe(true);
    expect(isDemotion(new Error('ERR Error running script: -READONLY You can not'))).toBe(true);
    expect(isDemotion(new Error('MASTERDOWN Link with MASTER is down'))).toBe(true);
    expect(isDemotion(new Error('LOADING Redis is loading'))).toBe(false);
  });

  it('shows a server that answers no request at the moment', () => {
    expect(isUnavailable(new Error('LOADING Redis is loading the dataset in memory'))).toBe(true);
    expect(isUnavailable(new Error('BUSY Redis is busy running a script.'))).toBe(true);
    expect(isUnavailable(new Error('BUSYKEY Target key name already exists.'))).toBe(false);
  });

  it('shows an unknown script only by its first word', () => {
    expect(isUnknownScript(new Error('NOSCRIPT No matching script.'))).toBe(true);
    expect(isUnknownScript(new Error('ERR Error running script: NOSCRIPT'))).toBe(false);
  });
});
