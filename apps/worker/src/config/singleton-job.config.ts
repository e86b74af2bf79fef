import { registerAs } from '@nestjs/config';
import { type SingletonJobOptions } from 'nestjs-singleton-job';
import { singletonJobConfig as fromEnvironment } from 'nestjs-singleton-job/config';
import { currentRunInterceptor } from 'nestjs-singleton-job/current-run';

const DEFAULTS = { projectName: 'myapp', connection: 'redis://127.0.0.1:6379' };

/**
 * The options of the library: the defaults of this application, the variables that override them, and the interceptors.
 */
export const singletonJobConfig = registerAs('singletonJob', () => {
  return {
    ...DEFAULTS,
    ...fromEnvironment(),
    interceptors: [currentRunInterceptor],
  } satisfies SingletonJobOptions;
});
