import { spawn } from 'node:child_process';

interface Guard {
  /** Call when the guarded process has ended, so that a later process with its id is left alone. */
  dismiss(): void;
}

const IDLE: Guard = {
  dismiss() {
    // nothing to end
  },
};

/**
 * Ends `pid`, and removes `dir` if one is given, when this process is gone, also after a SIGKILL: a small shell waits for the end of a pipe
 * that only this process holds open. On Windows there is no such shell and nothing is guarded.
 */
export function guard(pid: number, dir = ''): Guard {
  if (process.platform === 'win32') return IDLE;
  const script = 'cat >/dev/null; kill -9 "$1" 2>/dev/null; test -z "$2" || { sleep 0.2; rm -rf "$2"; }';
  // in a process group of its own: Ctrl-C on the terminal must reach us first
  const shell = spawn('sh', ['-c', script, 'server-guard', String(pid), dir], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  return {
    dismiss: () => {
      shell.kill('SIGKILL');
    },
  };
}
