import { type Job } from '../../jobs/job.js';
import { type LogSink } from '../../log/operator-log.js';
import { type JobObserver } from '../../base/events/observer.js';
import { type RunInterceptor } from '../../base/events/run-interceptor.js';
import { BackupHeartbeats } from '../../heartbeat-thread/backup-heartbeats.js';
import { type BackupReport, type HeartbeatBackup } from '../../leadership/backup.js';
import { type ResolvedOptions, resolveOptions } from '../../options/resolve-options.js';
import { type SingletonJobOptions } from '../../options/singleton-job.options.js';
import { createServices, type Services } from '../../control/create-services.js';
import { MemoryStore } from '../../store/memory.js';
import { type Clock } from '../../base/time/clock.js';
import { RecordingObserver } from '../recording-observer.js';
import { type FaultyServer } from '../faulty-server.js';
import { FaultyStore } from './faulty-store.js';
import { ReplicaClock } from './replica-clock.js';

export interface TestReplicaOptions {
  /** For jitter and back-off. 0 by default, so that each test is the same every time. */
  readonly random?: () => number;
  /** Milliseconds of its clocks per millisecond of the common time. */
  readonly rate?: number;
  readonly options?: Partial<SingletonJobOptions>;
  /** Called before the recording observer. */
  readonly observers?: readonly JobObserver[];
  readonly interceptors?: readonly RunInterceptor[];
  /** @default no log */
  readonly log?: LogSink;
  /** The behaviour of its network from the first request on. */
  readonly network?: Partial<Pick<FaultyStore, 'outcome' | 'answersAfter' | 'delayMs' | 'losesMessages'>>;
  /** Whether it has a heartbeat thread, which continues while the replica is paused. */
  readonly hasThread?: boolean;
  /** Replaces that thread. */
  readonly backup?: HeartbeatBackup;
}

/** The heartbeat thread of a replica: a clock and a network of its own. */
interface TestThread {
  readonly clock: ReplicaClock;
  readonly store: FaultyStore;
  readonly backup: HeartbeatBackup;
  /** The process is in its `exit` event. */
  endLeases(): Promise<void>;
}

/** One replica of {@link TestReplicas}. Everything is real except its clock, its random numbers and its network. */
export interface TestReplica extends Pick<Services, 'replica' | 'pool' | 'registry' | 'health'> {
  readonly name: string;
  readonly clock: ReplicaClock;
  /** Its events, at the common time, until it is killed. */
  readonly observer: RecordingObserver;
  readonly store: FaultyStore;
  readonly thread: TestThread | undefined;
  /** Ends its process as SIGKILL does: it sends, receives and reports nothing after that, and no timer fires. */
  kill(): void;
  /** Ends its process as an uncaught exception does. Its thread, if it has one, ends the leases. */
  crash(): void;
}

/** The jobs of a replica, or a function that creates them from its clock and its options. */
export type JobsOfReplica =
  readonly Job[] | ((replica: { readonly clock: Clock; readonly options: ResolvedOptions }) => readonly Job[]);

interface Surroundings {
  readonly name: string;
  /** The common time. */
  readonly time: Clock;
  readonly server: FaultyServer;
}

/** Creates a replica in memory. */
export function createTestReplica(
  { name, time, server }: Surroundings,
  jobsOfReplica: JobsOfReplica,
  {
    random = () => 0,
    rate = 1,
    options: given = {},
    observers = [],
    interceptors = [],
    log,
    network = {},
    hasThread = false,
    backup,
  }: TestReplicaOptions,
): TestReplica {
  const clock = new ReplicaClock(time, rate);
  const observer = new RecordingObserver(time);
  const store = Object.assign(new FaultyStore(new MemoryStore(server), time, clock), network);
  // not the environment of the test run, which may have switched the jobs of the application off
  const raw = { projectName: 'test', store, ...given, observers: [...observers, observer] };
  const options = resolveOptions(raw, {}, name);
  const thread = hasThread ? createThread({ time, server }, rate) : undefined;
  const parts = {
    id: name,
    clock,
    store,
    random,
    backup: thread?.backup ?? backup,
    ...(log !== undefined && { log }),
  };
  const created = createServices(options, parts);
  created.interceptors.push(...interceptors);
  const jobs = typeof jobsOfReplica === 'function' ? jobsOfReplica({ clock, options }) : jobsOfReplica;
  for (const job of jobs) created.pool.add(job);
  const killMain = (): void => {
    clock.kill();
    store.kill();
    // what a killed process does before its turn is over reaches no observer
    created.observers.length = 0;
  };
  const killThread = (): void => {
    thread?.clock.kill();
    thread?.store.kill();
  };
  const kill = (): void => {
    killMain();
    killThread();
  };
  const crash = (): void => {
    killMain();
    void thread?.endLeases().then(killThread);
  };
  const { replica, pool, registry, health } = created;
  return { name, clock, observer, store, replica, pool, registry, health, thread, kill, crash };
}

function createThread({ time, server }: Omit<Surroundings, 'name'>, rate: number): TestThread {
  const clock = new ReplicaClock(time, rate);
  const store = new FaultyStore(new MemoryStore(server), time, clock);
  const reports: BackupReport[] = [];
  const heartbeats = new BackupHeartbeats({
    store,
    clock,
    report: (report) => reports.push(report),
    reportUnreachable: () => undefined,
  });
  const backup: HeartbeatBackup = {
    update: (state) => {
      heartbeats.receive(state);
    },
    takeReports: () => reports.splice(0),
    close: async () => {
      clock.kill();
      await store.close();
    },
  };
  return { clock, store, backup, endLeases: () => heartbeats.endLeases() };
}
