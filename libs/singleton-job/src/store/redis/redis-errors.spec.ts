import { describe, expect, it } from '@jest/globals';
import { LockStoreError } from '../../errors/index.js';
import { isDemotion, isMisconfiguration, isUnknownScript, redisError, isUnavailable } from './redis-errors.js';

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
  "CROSSSLOT Keys in request don't hash to the same slot",
  "ERR unknown command 'evalsha', with args beginning with: ",
  'ERR Unknown Redis command called from script script: 6f2, on @user_script:9.',
  'ERR DB index is out of range',
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
  'MOVED 14044 10.0.0.7:6379',
  'Too many Cluster redirections. Last error: ReplyError: MOVED 14044 10.0.0.7:6379',
  'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
  'ERR max number of clients reached',
  'NOSCRIPT No matching script. Please use EVAL.',
  'UNKILLABLE Sorry the script already executed write commands against the dataset.',
];

describe('an error of Redis', () => {
  it.each(MISCONFIGURED)('waits for a person: %s', (message) => {
    expect(redisError(new Error(message), 'renew').code).toBe('STORE_MISCONFIGURED');
    expect(isMisconfiguration(new Error(message))).toBe(true);
  });

  it.each(REFUSED)('is a refused write: %s', (message) => {
    expect(redisError(new Error(message), 'renew').code).toBe('STORE_REFUSED_WRITE');
  });

  it.each(UNREACHABLE)('passes by itself: %s', (message) => {
    expect(redisError(new Error(message), 'renew').code).toBe('STORE_UNREACHABLE');
    expect(isMisconfiguration(new Error(message))).toBe(false);
  });

  it('keeps its words and its cause', () => {
    const cause = new Error('OOM command not allowed');
    const error = redisError(cause, "Redis did not answer 'renew'");
    expect(error.message).toBe("Redis did not answer 'renew': OOM command not allowed");
    expect(error.cause).toBe(cause);
  });

  it('of all nodes of a cluster is sorted by what the last of them said', () => {
    const all = Object.assign(new Error('Failed to refresh slots cache.'), {
      lastNodeError: new Error('WRONGPASS invalid username-password pair'),
    });
    expect(redisError(all, 'renew')).toMatchObject({
      code: 'STORE_MISCONFIGURED',
      message: 'renew: Failed to refresh slots cache. (WRONGPASS invalid username-password pair)',
    });
  });

  it('without a message tells its code', () => {
    const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(redisError(refused, 'renew').message).toBe('renew: ECONNREFUSED');
  });

  it('that is sorted already stays as it is, and what is no error is unreachable', () => {
    const sorted = new LockStoreError('STORE_REFUSED_WRITE', 'full');
    expect(redisError(sorted, 'renew')).toBe(sorted);
    expect(redisError('gone', 'renew')).toMatchObject({ code: 'STORE_UNREACHABLE', message: 'renew: gone' });
  });

  it('tells of a demoted server, inside a script too', () => {
    expect(isDemotion(new Error("READONLY You can't write against a read only replica."))).toBe(true);
    expect(isDemotion(new Error('ERR Error running script: -READONLY You can not'))).toBe(true);
    expect(isDemotion(new Error('MASTERDOWN Link with MASTER is down'))).toBe(true);
    expect(isDemotion(new Error('LOADING Redis is loading'))).toBe(false);
  });

  it('tells of a server that answers no request at the moment', () => {
    expect(isUnavailable(new Error('LOADING Redis is loading the dataset in memory'))).toBe(true);
    expect(isUnavailable(new Error('BUSY Redis is busy running a script.'))).toBe(true);
    expect(isUnavailable(new Error('BUSYKEY Target key name already exists.'))).toBe(false);
  });

  it('tells of a script that was never run only by its first word', () => {
    expect(isUnknownScript(new Error('NOSCRIPT No matching script.'))).toBe(true);
    expect(isUnknownScript(new Error('ERR Error running script: NOSCRIPT'))).toBe(false);
  });
});
