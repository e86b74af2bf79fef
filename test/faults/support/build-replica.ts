import { spawnSync } from 'node:child_process';

/** Compiles the replica once for all specs; they find it by this variable. */
export default function build(_options: unknown, { rootDir }: { readonly rootDir: string }): void {
  const built = spawnSync(process.execPath, ['node_modules/tsx/dist/cli.mjs', 'tools/faults/build.ts'], {
    cwd: rootDir,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`the replica does not compile:\n${built.stdout}${built.stderr}`);
  process.env['FAULTS_REPLICA'] = built.stdout.trim();
}
