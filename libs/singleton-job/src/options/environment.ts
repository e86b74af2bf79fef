import { hostname } from 'node:os';

/** The variable that switches all jobs off. */
export const ENABLED_VARIABLE = 'SINGLETON_JOB_ENABLED';

/** The parts of the environment that options depend on. */
export interface Environment {
  readonly [ENABLED_VARIABLE]?: string | undefined;
  readonly NODE_ENV?: string | undefined;
  readonly POD_NAME?: string | undefined;
  readonly hostName: string;
  /** The names of all variables that are not empty. */
  readonly names?: readonly string[];
}

export function processEnvironment(): Environment {
  const { NODE_ENV, POD_NAME, [ENABLED_VARIABLE]: enabled } = process.env;
  const names = Object.keys(process.env).filter((name) => process.env[name] !== '');
  return { NODE_ENV, POD_NAME, [ENABLED_VARIABLE]: enabled, hostName: hostname(), names };
}
