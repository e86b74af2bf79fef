/** What a server is started with. */
export interface Launch {
  readonly port: number;
  /** An existing, empty folder of its own: the working directory, the data and the log. */
  readonly dir: string;
  readonly args: readonly string[];
  /** Name of a file in `dir` that the server reads its settings from, and writes them to. */
  readonly configFile?: string;
}

export type ControlSignal = 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT';

/** One server that was started; it may still be on its way up. */
export interface RunningRedis {
  /** The process to look at from outside; of the client where the server lives in a container. */
  readonly pid: number;
  /** What the server itself calls `process_id`, so that a stranger on the same port is not mistaken for it. */
  readonly reportedPid: number;
  /** Resolves when it has ended, for any reason. */
  readonly exited: Promise<void>;
  signal(signal: ControlSignal): Promise<void>;
}

/** A Redis, or a Valkey, that this machine can run. */
export interface RedisBinary {
  /** Where it was found and which version it is, for one line of a log. */
  readonly source: string;
  /** The file, and the environment that it finds its libraries in. None where it lives in a container. */
  readonly executable?: { readonly path: string; readonly env: Readonly<Record<string, string | undefined>> };
  launch(launch: Launch): RunningRedis;
}

/** The arguments that every launch shares; `args` come last and win. */
export function serverArguments({ port, args }: Pick<Launch, 'port' | 'args'>): string[] {
  return ['--port', String(port), '--save', '', '--appendonly', 'no', ...args];
}
