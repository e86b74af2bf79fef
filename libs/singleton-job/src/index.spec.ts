import { expect, it } from '@jest/globals';
import * as api from './index.js';

it('the package exports these names', () => {
  expect(Object.keys(api).sort()).toEqual([
    'CLAIM_LEAD_MS',
    'Cron',
    'CronExpression',
    'FixedRate',
    'Interval',
    'InvalidJobsError',
    'InvalidLockError',
    'InvalidOptionsError',
    'JobRun',
    'LeaseLostError',
    'LockHandle',
    'LockLostError',
    'LockService',
    'LockStoreError',
    'LockUnavailableError',
    'LocksClosedError',
    'RunAbortedError',
    'SESSION_LISTED_MS',
    'SINGLETON_JOB_OPTIONS',
    'SingletonCron',
    'SingletonFixedRate',
    'SingletonInterval',
    'SingletonJobError',
    'SingletonJobHealth',
    'SingletonJobModule',
    'SingletonJobRegistry',
    'Timeout',
    'UnknownJobError',
    'lockExpiryOf',
    'lockLifeMs',
    'replicaOf',
    'sessionOf',
  ]);
});
