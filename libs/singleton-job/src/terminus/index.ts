/** Health checks for @nestjs/terminus. */
export { SingletonJobHealthIndicator } from './singleton-job.health-indicator.js';
