export {
  acquireRequest,
  eventually,
  granted,
  heartbeat,
  kept,
  LONG_MS,
  refused,
  sessionOfReplica,
} from '../../libs/singleton-job/src/testing/lock-store-contract/index.js';
