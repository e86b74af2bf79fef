import { hostname } from 'node:os';
import { editDistance } from '../base/text/suggest.js';

/** What the variables of `singletonJobConfig` begin with, before `_`. */
export const OPTION_PREFIX = 'SINGLETON_JOB';

/** The variable that switches all jobs off. */
export const ENABLED_VARIABLE = 'SINGLETON_JOB_ENABLED';

/** The parts of the environment that options depend on. */
export interface Environment {
  readonly [ENABLED_VARIABLE]?: string | undefined;
  readonly POD_NAME?: string | undefined;
  readonly hostName: string;
  /** The names of those that are set and begin with {@link OPTION_PREFIX}, but for the one that the library always reads. */
  readonly optionVariables?: readonly string[];
}

export function processEnvironment(): Environment {
  const { POD_NAME, [ENABLED_VARIABLE]: enabled } = process.env;
  const optionVariables = Object.keys(process.env).filter(
    (name) => name.startsWith(`${OPTION_PREFIX}_`) && name !== ENABLED_VARIABLE && process.env[name] !== '',
  );
  return { POD_NAME, [ENABLED_VARIABLE]: enabled, hostName: hostname(), optionVariables };
}

/** With another word or a digit it is another variable, and not a misspelling. */
const THREE_WORDS = /^[a-z]+(_[a-z]+){0,2}$/i;
const MOST_MISSPELT = 2;

/** The variables that may be meant to switch all jobs off, and do not: {@link ENABLED_VARIABLE} is not set. */
export function misspeltVariables(variables: Readonly<Record<string, string | undefined>> = process.env): string[] {
  if ((variables[ENABLED_VARIABLE] ?? '') !== '') return [];
  return Object.keys(variables).filter((name) => {
    const switchesOff = !['', 'true', undefined].includes(variables[name]);
    const isClose = THREE_WORDS.test(name) && editDistance(name.toUpperCase(), ENABLED_VARIABLE) <= MOST_MISSPELT;
    return switchesOff && isClose;
  });
}
