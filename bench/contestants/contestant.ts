/** What a contestant process is to do. It gets this as JSON in the environment variable CONTESTANT. */
export interface Settings {
  /** The file of this folder that runs the jobs, without its ending. */
  readonly program: string;
  readonly node: string;
  /** First part of every key. */
  readonly project: string;
  /** Its server: of the kind that the contestant names, a Redis by default. */
  readonly serverUrl: string;
  readonly jobs: readonly JobSpec[];
  /**
   * `runs`: each start and end is an event. `lateness`: collected, for a question. `nothing`: a run does nothing but
   * count.
   */
  readonly reports: 'runs' | 'lateness' | 'nothing';
  /** Settings of the contestant's own, such as `lockExpiry`. */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface JobSpec {
  readonly name: string;
  /** So many jobs, numbered: 10,000 names have no room in a variable of the environment. @default one, not numbered */
  readonly count?: number;
  readonly periodMs: number;
  /** Moves the slots, where the contestant has slots. @default 0 */
  readonly offsetMs?: number;
  /** How long a run takes, in a timer. @default 0 */
  readonly takesMs?: number;
}

/** What a contestant knows of a run that it starts. */
export interface Tick {
  /** The slot; a number is in milliseconds since the epoch. */
  readonly scheduledAt?: Date | number;
  /** Ends the run early. */
  readonly signal?: AbortSignal;
}

export interface Job extends JobSpec {
  readonly run: (tick: Tick) => Promise<void>;
}

/** The process around a contestant. */
export interface Host {
  readonly settings: Settings;
  readonly jobs: readonly Job[];
  /** Where the contestant knows who leads a job. */
  readonly leads: (job: string) => void;
  /** Called at SIGTERM by contestants that are no Nest application; the process ends when it resolves. */
  readonly onStop: (stop: () => Promise<void>) => void;
}

/** Starts the jobs. Resolves once they run, or wait for their turn. */
export type Start = (host: Host) => Promise<void>;

/** What a process has used since it started. */
export interface Usage {
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly runs: number;
}

/** How a process started; milliseconds since it was created, but for `importMs`. */
export interface StartTimes {
  readonly importMs: number;
  readonly readyMs: number;
  /** Null where nothing has run. */
  readonly firstRunMs: number | null;
}
