import {
  Cron,
  type JobRun,
  type SingletonJobHealth,
  type SingletonJobOptions,
  type SingletonJobRegistry,
} from 'nestjs-singleton-job';

/** The compiler writes their types into the declarations of this application, so it must be able to name each part. */
export const nightly = () => Cron('0 3 * * *');
export const partsOfRun = ({ kind, cause, missed }: JobRun) => ({ kind, cause, missed });
export const firstStatus = (registry: SingletonJobRegistry) => ({ ...registry.list()[0] });
export const partsOfReport = (health: SingletonJobHealth) => ({ ...health.report() });
export const partsOfOptions = (options: SingletonJobOptions) => ({ ...options });
