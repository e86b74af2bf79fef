import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { WorkerProcess, type WorkerEvent } from '../../tools/replicas/worker-process.js';
import { QUICK, Workers } from '../../tools/replicas/workers.js';
import { type OwnServer } from '../../tools/servers/own-server.js';
import { SERVER_KINDS, SERVERS } from '../../tools/servers/servers.js';
import { wrongClock } from '../../tools/servers/wrong-clock.js';

const HOUR_S = 3_600;
const THREE_YEARS_S = 3 * 365 * 24 * HOUR_S;
const PERIOD_MS = 2_000;
/** After this a new leader has had two ticks, the grace period after a restart of the store included. */
const SOON_MS = 10_000 + SLACK_MS;

type Clock = Readonly<Record<string, string>>;

/** The processes of one test, and their server. All have the right clock at first. */
class World implements AsyncDisposable {
  readonly workers = Workers.of();

  private constructor(readonly server: OwnServer) {}

  static async start(kind: keyof typeof SERVERS): Promise<World> {
    return new World(await SERVERS[kind]());
  }

  /** A replica that has started. */
  replica(node: string, clock: Clock = {}): Promise<WorkerProcess> {
    const variables = {
      ...QUICK,
      SINGLETON_JOB_CONNECTION: this.server.url,
      SINGLETON_JOB_PROJECT_NAME: 'clocks',
      SINGLETON_JOB_JOBS__DAILY_REPORT__CRON: '*/2 * * * * *',
      DAILY_REPORT_TAKES: '1ms',
      ...clock,
    };
    return this.workers.add(new WorkerProcess(node, variables));
  }

  async setClock(clock: Clock): Promise<void> {
    this.server.variables = clock;
    await this.server.restart();
  }

  /** Two occurrences have run: the first one may be one that was due before. */
  untilItRuns(replica: WorkerProcess, withinMs?: number): Promise<unknown> {
    const runs = () => eventsOf(replica, 'runSucceeded').length > 1;
    return this.workers.until('the job runs', runs, withinMs === undefined ? {} : { withinMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.workers.kill();
    await this.server.stop();
  }
}

/** Of the cron job. */
function eventsOf(replica: WorkerProcess, event: WorkerEvent['event']): readonly WorkerEvent[] {
  return replica.events.filter((one) => one.event === event && one.payload?.job === 'daily-report');
}

describe.each(['redis', 'postgres', 'mysql'] as const)('A first leader on %s', (kind) => {
  it.concurrent.each([
    ['10 min ahead', 600],
    ['2 h ahead', 2 * HOUR_S],
    ['three years ahead', THREE_YEARS_S],
    ['10 min behind', -600],
    ['2 h behind', -2 * HOUR_S],
    ['three years behind', -THREE_YEARS_S],
  ])('whose clock is %s leaves nothing of it to the next leader', async (_, aheadS) => {
    await using world = await World.start(kind);
    const first = await world.replica('a', await wrongClock(aheadS));
    await world.untilItRuns(first);
    const next = await world.replica('b');
    await first.stop();
    await world.untilItRuns(next, SOON_MS);
    expect([...eventsOf(next, 'occurrencesMissed'), ...eventsOf(next, 'warning')]).toEqual([]);
  });
});

describe.each(SERVER_KINDS)('After the clock of the store was ahead, on %s', (kind) => {
  it.concurrent.each([
    ['waits for the last occurrence if that is within a day', 2 * HOUR_S, false],
    ['begins anew after more than a day', THREE_YEARS_S, true],
  ])('a cron job %s, and warns once', async (_, aheadS, isBegunAnew) => {
    await using world = await World.start(kind);
    const ahead = await wrongClock(aheadS);
    // a file has the clock of its process
    const isFile = kind === 'sqlite';
    if (!isFile) await world.setClock(ahead);
    const first = await world.replica('a', isFile ? ahead : {});
    await world.untilItRuns(first);
    await first.stop();
    if (!isFile) await world.setClock({});
    const next = await world.replica('b');
    const warnings = () => eventsOf(next, 'warning').map(({ payload }) => payload?.code);
    await world.workers.until('it warns', () => warnings().length > 0);
    if (isBegunAnew) await world.untilItRuns(next, SOON_MS);
    else await delay(2 * PERIOD_MS);
    expect(eventsOf(next, 'runStarted').length > 0).toBe(isBegunAnew);
    expect(warnings()).toEqual(['CLAIMS_AHEAD']);
  });
});
