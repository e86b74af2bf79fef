export { SingletonJobHealthIndicator } from './singleton-job.health-indicator.js';
