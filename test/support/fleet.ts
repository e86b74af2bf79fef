export { job } from '../../libs/singleton-job/src/testing/specs/job.js';
