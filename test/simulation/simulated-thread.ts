import { BackupHeartbeats } from '../../libs/singleton-job/src/heartbeat-thread/backup-heartbeats.js';
import {
  type BackupReport,
  type HeartbeatBackup,
  type MainThreadState,
} from '../../libs/singleton-job/src/leadership/heartbeat-backup.js';
import { type Chance } from './chance.js';
import { Pipe } from './pipe.js';
import { type ProcessClock } from './process-clock.js';
import { type SimulatedNetwork } from './simulated-network.js';
import { type Timeline } from './timeline.js';

interface ThreadParts {
  readonly timeline: Timeline;
  readonly chance: Chance;
  /** Shows the same time as the clock of the main thread, and is never blocked. */
  readonly clock: ProcessClock;
  /** A connection of its own. */
  readonly network: SimulatedNetwork;
}

/** The longest time that a message between the threads takes. */
const MESSAGE_MS = 2;
/** How long the main thread waits for it in its `exit` event. */
const EXIT_WAIT_MS = 200;

/** The heartbeat thread of a process. Messages between the two threads arrive in order, a moment later. */
export class SimulatedThread implements HeartbeatBackup {
  readonly clock: ProcessClock;
  readonly network: SimulatedNetwork;
  readonly #states: Pipe;
  readonly #heartbeats: BackupHeartbeats;
  readonly #reports: BackupReport[] = [];

  constructor({ timeline, chance, clock, network }: ThreadParts) {
    this.clock = clock;
    this.network = network;
    const pipe = (): Pipe => new Pipe({ timeline, travelMs: () => chance.between(0, MESSAGE_MS), isOpen: () => true });
    this.#states = pipe();
    const reports = pipe();
    this.#heartbeats = new BackupHeartbeats({
      store: network,
      clock,
      report: (report) => {
        // the main thread reads what has arrived even while its loop is blocked
        reports.send(() => this.#reports.push(report));
      },
      reportUnreachable: () => undefined,
    });
  }

  update(state: MainThreadState): void {
    this.#states.send(() => {
      this.clock.deliver(() => {
        this.#heartbeats.receive(state);
      });
    });
  }

  takeReports(): readonly BackupReport[] {
    return this.#reports.splice(0);
  }

  close(): Promise<void> {
    this.end();
    return Promise.resolve();
  }

  /** The main thread is in its `exit` event, and waits for no longer than 0.2 s. */
  exit(): void {
    const end = (): void => {
      this.end();
    };
    this.clock.setTimer(EXIT_WAIT_MS, end);
    this.#states.send(() => {
      this.clock.deliver(() => {
        void this.#heartbeats.endSessions().then(end);
      });
    });
  }

  /** It is terminated. What it has sent still arrives. */
  end(): void {
    this.clock.end();
    this.network.end();
  }
}
