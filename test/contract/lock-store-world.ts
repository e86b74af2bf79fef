export {
  bidOf,
  eventually,
  granted,
  LONG_MS,
  refused,
} from '../../libs/singleton-job/src/testing/lock-store-contract/asking.js';
