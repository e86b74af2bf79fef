import { hostname } from 'node:os';

/** What the options take from outside. */
export interface Environment {
  readonly NODE_ENV?: string | undefined;
  readonly POD_NAME?: string | undefined;
  readonly hostName: string;
}

export function processEnvironment(): Environment {
  return { NODE_ENV: process.env['NODE_ENV'], POD_NAME: process.env['POD_NAME'], hostName: hostname() };
}
