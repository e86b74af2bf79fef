import { spawnSync } from 'node:child_process';

/** Builds `apps/worker` once for all specs that start it as a process. */
export default function buildWorker(_options: unknown, { rootDir }: { readonly rootDir: string }): void {
  const built = spawnSync(process.execPath, ['node_modules/tsx/dist/cli.mjs', 'tools/build.ts', 'worker'], {
    cwd: rootDir,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`apps/worker does not build:\n${built.stdout}${built.stderr}`);
}
