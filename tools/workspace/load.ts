import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Computes without end, in slices: in between it notices when the process that started it is gone. */
const BUSY = `
process.on('disconnect', () => process.exit());
(function spin() {
  const until = Date.now() + 20;
  while (Date.now() < until);
  setImmediate(spin);
})();`;

/** Keeps every core busy with one child process each. Returns the function that ends them. */
export function startLoad(): () => void {
  const children = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', BUSY], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }),
  );
  return () => {
    for (const child of children) child.kill();
  };
}
