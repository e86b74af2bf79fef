import { spawnSync } from 'node:child_process';

/** Builds the applications once for all specs that start them as processes. */
export default function buildApplications(_options: unknown, { rootDir }: { readonly rootDir: string }): void {
  const built = spawnSync(process.execPath, ['node_modules/tsx/dist/cli.mjs', 'tools/build.ts', 'worker', 'minimal'], {
    cwd: rootDir,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`the applications do not build:\n${built.stdout}${built.stderr}`);
}
