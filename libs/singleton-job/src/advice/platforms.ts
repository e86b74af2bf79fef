/** Platforms that freeze a process between two requests, by a variable that they set. */
const FREEZING: Readonly<Record<string, string>> = { AWS_LAMBDA_FUNCTION_NAME: 'AWS Lambda', VERCEL: 'Vercel' };

/** What to do with jobs in this environment. Undefined: nothing is known against them there. */
export function platformFix(variables: NodeJS.ProcessEnv): string | undefined {
  const [, platform] = Object.entries(FREEZING).find(([name]) => Boolean(variables[name])) ?? [];
  if (platform === undefined) return undefined;
  const fix = 'Set SINGLETON_JOB_ENABLED=false here, and run the jobs in a process that lasts';
  return `${platform} freezes this process between requests, so its jobs lose their leases and runs are aborted. ${fix}`;
}
