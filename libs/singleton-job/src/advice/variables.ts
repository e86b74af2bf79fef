import { editDistance } from './suggest.js';

/** With another word or a digit it is another variable, and not a misspelling. */
const THREE_WORDS = /^[a-z]+(_[a-z]+){0,2}$/i;
const MAX_DISTANCE = 2;

/** About each variable that may be meant to be `meant`, which switches all jobs off, while that is not set. */
export function misspeltVariables(variables: Readonly<Record<string, string | undefined>>, meant: string): string[] {
  if ((variables[meant] ?? '') !== '') return [];
  const isSimilar = (name: string): boolean =>
    THREE_WORDS.test(name) && editDistance(name.toUpperCase(), meant) <= MAX_DISTANCE;
  const switchesOff = (name: string): boolean => !['', 'true', undefined].includes(variables[name]);
  const misspelt = Object.keys(variables).filter((name) => switchesOff(name) && isSimilar(name));
  return misspelt.map((name) => `${name} is set, and ${meant} is not: to switch all jobs off, set ${meant}=false`);
}

/** Platforms that freeze a process between two requests, by a variable that they set. */
const FREEZING: Readonly<Record<string, string>> = { AWS_LAMBDA_FUNCTION_NAME: 'AWS Lambda', VERCEL: 'Vercel' };

/** What to do with jobs in this environment. Undefined: nothing is known against them there. */
export function platformFix(variables: NodeJS.ProcessEnv): string | undefined {
  const [, platform] = Object.entries(FREEZING).find(([name]) => Boolean(variables[name])) ?? [];
  if (platform === undefined) return undefined;
  const fix = 'Set SINGLETON_JOB_ENABLED=false here, and run the jobs in a process that lasts';
  return `${platform} freezes this process between requests, so its jobs lose their leases and runs are aborted. ${fix}`;
}
