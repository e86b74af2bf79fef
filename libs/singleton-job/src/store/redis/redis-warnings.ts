import { type StoreWarning } from '../lock-store.js';

/** The `maxmemory-policy` is not `noeviction`. */
export function evictionWarning(policy: string): StoreWarning {
  const message =
    'may lose locks when Redis is full, and run jobs twice: ' +
    `its maxmemory-policy is ${policy}. Set it to noeviction`;
  return { code: 'EVICTION_POSSIBLE', message };
}

/** INFO is not permitted to this user. */
export const RESTARTS_HIDDEN: StoreWarning = {
  code: 'RESTARTS_HIDDEN',
  message:
    'cannot tell a restart of Redis from a short outage, because INFO is not permitted. After a ' +
    'restart two replicas may lead a job for up to its lockExpiry. Permit +info and +time in the ACL',
};

/** INFO has no run id, or not in scripts. Nothing that a user could permit changes that. */
export const RESTARTS_NOT_SHOWN: StoreWarning = {
  code: 'RESTARTS_HIDDEN',
  message:
    'cannot tell a restart of Redis from a short outage, because this service shows scripts no run id. After a restart two ' +
    'replicas may lead a job for up to its lockExpiry',
};
