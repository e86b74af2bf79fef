import { Injectable, Module } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { FixedRate, type JobEvents, type JobObserver, SingletonJobModule } from 'nestjs-singleton-job';
import { cron, fixedRate } from '../../libs/singleton-job/src/schedule/index.js';
import { eventually } from '../contract/lock-store-world.js';
import { LATE } from '../support/busy-machine.js';
import { brokenFences, overlaps } from '../support/history.js';
import { problemsOf, startApplication, startDisabled } from '../support/nest-application.js';
import { type OriginalVersion } from '../support/original-belief.js';
import { MixedFleet, type OurReplica, PROJECT, type Timing } from '../support/original-mixed-fleet.js';
import { useRedisServer } from '../support/redis.js';

const VERSIONS: readonly OriginalVersion[] = ['1.0.0', 'main'];
const LOCK = `${PROJECT}:tick:lock`;
const STATE = `{${LOCK}}:state`;
/** What expires while a test waits for it, and not because a core was away for a moment. */
const QUICK: Timing = { heartbeatIntervalMs: 200, lockExpiryMs: 4_000 };
/** What nobody lives to see expire in a test: whoever takes over was let in before. */
const PATIENT: Timing = { heartbeatIntervalMs: 200, lockExpiryMs: 60_000 };

const often = fixedRate(50);
const everySecond = cron('* * * * * *', { timeZone: 'UTC', jobName: 'tick' });
const everyOtherSecond = cron('*/2 * * * * *', { timeZone: 'UTC', jobName: 'tick' });

const until = (what: string, isSo: () => boolean): Promise<unknown> => eventually(what, () => isSo() || undefined);
const leads = ({ observer }: OurReplica): boolean => observer.of('leadershipGained').length > 0;
const led = (ours: OurReplica): Promise<unknown> => until('a replica of ours leads', () => leads(ours));

describe('In a mixed fleet', () => {
  const server = useRedisServer();
  const fleets: MixedFleet[] = [];
  let redis: Redis;

  beforeEach(() => {
    redis = new Redis(server().url);
  });

  afterEach(async () => {
    await Promise.all(fleets.splice(0).map((fleet) => fleet.end()));
    await redis.flushall();
    redis.disconnect();
  });

  const mixed = (timing: Timing): MixedFleet => {
    const fleet = new MixedFleet(server().url, timing);
    fleets.push(fleet);
    return fleet;
  };

  describe.each(VERSIONS)('with the original %s', (version) => {
    it('a replica of ours follows an original that leads, and leads once it has stopped', async () => {
      const fleet = mixed(PATIENT);
      const theirs = fleet.original('theirs', { version, schedule: often });
      await until('the original runs', () => fleet.runsOf('theirs').length > 0);
      const ours = fleet.ours('ours', { schedule: often });
      await until('ours was refused', () => ours.store.count('acquire') > 3);
      expect(leads(ours)).toBe(false);
      expect(await redis.get(LOCK)).toBe('theirs');
      await theirs.stop();
      await until('ours runs', () => fleet.runsOf('ours').length > 0);
      expect(overlaps(fleet.runs)).toEqual([]);
    });

    it('a replica of ours leads once the lock of a killed original has expired, and not before', async () => {
      const fleet = mixed(QUICK);
      const theirs = fleet.original('theirs', { version, schedule: often });
      await until('the original leads', () => theirs.isLeader);
      const ours = fleet.ours('ours', { schedule: often });
      await until('ours was refused', () => ours.lastSight() > 0);
      theirs.kill();
      const askedAtMs = performance.now();
      const livesForMs = await redis.pttl(LOCK);
      await led(ours);
      const gained = ours.observer.events.find(({ event }) => event === 'leadershipGained');
      expect(gained?.atMs).toBeGreaterThan(askedAtMs + livesForMs - 5);
    });

    it('an original follows a replica of ours that leads, and leads once it has stopped', async () => {
      const fleet = mixed(PATIENT);
      const ours = fleet.ours('ours', { schedule: often });
      await until('ours runs', () => fleet.runsOf('ours').length > 0);
      const theirs = fleet.original('theirs', { version, schedule: often });
      await until('the original was refused', () => theirs.beats > 3);
      expect(theirs.isLeader).toBe(false);
      await ours.supervisor.close();
      await until('the original runs', () => fleet.runsOf('theirs').length > 0);
      expect(overlaps(fleet.runs)).toEqual([]);
    });

    it('an original leads once the lock of a replica of ours that is cut off has expired, which has stepped down by then', async () => {
      const fleet = mixed(QUICK);
      const ours = fleet.ours('ours', { schedule: often });
      await until('ours runs', () => fleet.runsOf('ours').length > 0);
      const theirs = fleet.original('theirs', { version, schedule: often });
      await until('the original was refused', () => theirs.beats > 1);
      ours.store.fate = () => 'lost';
      await until('the original runs', () => fleet.runsOf('theirs').length > 0);
      ours.store.fate = () => 'carried';
      expect(ours.observer.of('leadershipLost')).toMatchObject([{ reason: 'expired' }]);
      expect(overlaps(fleet.runs)).toEqual([]);
    });

    it('a rolling deploy from theirs to ours and back never has two of them run at once', async () => {
      const fleet = mixed(PATIENT);
      const runs = async (node: string): Promise<void> => {
        const before = fleet.runsOf(node).length;
        await until(`${node} runs`, () => fleet.runsOf(node).length > before + 2);
      };
      const theirs = fleet.original('theirs-1', { version, schedule: often });
      await runs('theirs-1');
      const first = fleet.ours('ours-1', { schedule: often });
      const second = fleet.ours('ours-2', { schedule: often });
      await theirs.stop();
      await until('one of ours leads', () => leads(first) || leads(second));
      const back = fleet.original('theirs-2', { version, schedule: often });
      await Promise.all([first.supervisor.close(), second.supervisor.close()]);
      await runs('theirs-2');
      const third = fleet.ours('ours-3', { schedule: often });
      await back.stop();
      await led(third);
      await runs('ours-3');
      expect(overlaps(fleet.runs)).toEqual([]);
    });
  });

  it('nothing but the lock is shared: the original neither reads nor writes our state, and hears and tells nothing', async () => {
    const fleet = mixed(PATIENT);
    const first = fleet.ours('ours-1', { schedule: often });
    await until('ours runs', () => fleet.runsOf('ours-1').length > 2);
    await first.supervisor.close();
    const state = await redis.hgetall(STATE);

    const listener = redis.duplicate();
    const heard: string[] = [];
    listener.on('message', (_channel, message) => heard.push(message));
    await listener.subscribe(`${PROJECT}:released`);
    const theirs = fleet.original('theirs', { version: 'main', schedule: often });
    await until('the original runs', () => fleet.runsOf('theirs').length > 2);
    expect((await redis.keys('*')).sort()).toEqual([LOCK, STATE]);
    await eventually('only the listener is subscribed', async () => {
      const [, subscribers] = (await redis.pubsub('NUMSUB', `${PROJECT}:released`)) as [string, number];
      return subscribers === 1 || undefined;
    });
    await theirs.stop();
    expect(await redis.hgetall(STATE)).toEqual(state);

    const second = fleet.ours('ours-2', { schedule: often });
    await until('ours runs', () => fleet.runsOf('ours-2').length > 2);
    await second.supervisor.close();
    await until('our own release is heard of', () => heard.length > 0);
    listener.disconnect();
    expect(heard.every((message) => message.includes('ours-2'))).toBe(true);
    // fencing holds among ours, across a leadership of theirs
    expect(brokenFences(fleet.runs.filter(({ node }) => node !== 'theirs'))).toEqual([]);
  });

  it.each(['tick', 'price-tick', 'Prices.tick', 'täglich_1'])(
    'the key of the lock has the same bytes: %s',
    async (name) => {
      const locks = async (): Promise<string[]> => (await redis.keysBuffer('*:lock')).map((key) => key.toString('hex'));
      const fleet = mixed(PATIENT);
      const theirs = fleet.original('theirs', { version: 'main', job: name, schedule: often });
      await until('the original leads', () => theirs.isLeader);
      const key = await locks();
      expect(key).toEqual([Buffer.from(`${PROJECT}:${name}:lock`).toString('hex')]);
      await theirs.stop();
      await led(fleet.ours('ours', { name, schedule: often }));
      expect(await locks()).toEqual(key);
    },
  );

  it('followers of a foreign holder ask at each heartbeat, followers of our own do not', async () => {
    const fleet = mixed(PATIENT);
    const theirs = fleet.original('theirs', { version: 'main', schedule: often });
    await until('the original leads', () => theirs.isLeader);
    const ours = fleet.ours('ours', { schedule: often });
    await until('ours was refused', () => ours.lastSight() > 0);
    const fromMs = performance.now();
    const before = ours.store.count('acquire');
    await until('ours asks on', () => ours.store.count('acquire') >= before + 5);
    const heartbeats = (performance.now() - fromMs) / PATIENT.heartbeatIntervalMs;
    // one more for the subscription, which may be confirmed only now
    expect(5).toBeLessThanOrEqual(heartbeats + 2);

    await theirs.stop();
    await led(ours);
    const other = fleet.ours('other', { schedule: often });
    await until('the other one was refused', () => other.store.count('acquire') > 0);
    // it asks anew as its connections come up, and is quiet from then on
    await eventually('the other one asks nothing for five heartbeats', async () => {
      const asked = other.store.count('acquire');
      const renewed = ours.store.count('renew');
      await until('our leader renews on', () => ours.store.count('renew') >= renewed + 5);
      return other.store.count('acquire') === asked || undefined;
    });
    expect(leads(other)).toBe(false);
  });

  it('occurrences up to the last sight of a foreign holder are theirs: neither run again nor reported', async () => {
    const fleet = mixed(PATIENT);
    const first = fleet.ours('ours-1', { schedule: everySecond });
    await until('ours runs', () => fleet.runsOf('ours-1').length > 0);
    await first.supervisor.close();
    const theirs = fleet.original('theirs', { version: 'main', schedule: everySecond });
    await until('the original leads', () => theirs.isLeader);
    const second = fleet.ours('ours-2', { schedule: everySecond });
    await until('the original runs', () => fleet.runsOf('theirs').length > 1);
    await theirs.stop();
    await until('ours runs', () => fleet.runsOf('ours-2').length > 0);
    const sight = second.lastSight();
    const theirOccurrences = fleet.runsOf('theirs').map(({ scheduledAt }) => scheduledAt);
    expect(theirOccurrences.filter((at) => at <= sight).length).toBeGreaterThan(0);
    expect(fleet.runsOf('ours-2').filter(({ scheduledAt }) => scheduledAt <= sight)).toEqual([]);
    // an occurrence after that may have been missed; its report begins where the sight ended
    const reported = second.observer.of('occurrencesMissed').map(({ from }) => from.getTime());
    expect(reported.filter((from) => from < sight)).toEqual([]);
  });

  /** The original runs an occurrence that ours, cut off for a while, cannot see to be theirs; then ours takes over. */
  const takeOverUnseen = async (misfireGraceMs: number) => {
    const fleet = mixed(PATIENT);
    const schedule = everyOtherSecond;
    const past = fleet.ours('past', { schedule });
    await led(past);
    await past.supervisor.close();
    const theirs = fleet.original('theirs', { version: 'main', schedule });
    await until('the original leads', () => theirs.isLeader);
    const ours = fleet.ours('ours', { schedule, misfireGraceMs });
    await until('ours was refused', () => ours.lastSight() > 0);
    ours.store.fate = (command) => (command === 'acquire' ? 'STORE_UNREACHABLE' : 'carried');
    const sight = ours.lastSight();
    const unseen = (): number[] =>
      fleet.runsOf('theirs').flatMap((run) => (run.scheduledAt > sight ? [run.scheduledAt] : []));
    await until('the original runs unseen', () => unseen().length > 0);
    await theirs.stop();
    ours.store.fate = () => 'carried';
    await until('ours runs', () => fleet.runsOf('ours').length > 0);
    return { fleet, ours, sight, unseen: unseen() };
  };

  it('with misfireGrace 0 ours runs no occurrence that the original ran unseen, and reports it', async () => {
    const { fleet, ours, unseen } = await takeOverUnseen(0);
    const ourOccurrences = fleet.runsOf('ours').map(({ scheduledAt }) => scheduledAt);
    expect(unseen.filter((at) => ourOccurrences.includes(at))).toEqual([]);
    const windows = ours.observer.of('occurrencesMissed');
    for (const at of unseen) {
      expect(windows.some(({ from, to }) => from.getTime() < at && at <= to.getTime())).toBe(true);
    }
  });

  it('with a grace ours cannot know better than to make up for what it has not seen the original run', async () => {
    const { fleet, ours, sight } = await takeOverUnseen(30_000);
    expect(ours.observer.of('runStarted')[0]).toMatchObject({ cause: 'misfire' });
    expect(fleet.runsOf('ours')[0]?.scheduledAt).toBeGreaterThan(sight);
  });

  it.each(['daily report', 'daily{report}'])('a name that ours could not share is refused: %s', async (name) => {
    @Injectable()
    class Reports {
      @FixedRate('1s', { name })
      tick(): void {}
    }
    expect(await problemsOf(startDisabled({ providers: [Reports] }))).toEqual([
      expect.stringContaining('a name without braces, colons, slashes, spaces and control characters'),
    ]);
  });

  it.each(['my app', 'my{app}'])('a project that ours could not share is refused: %s', async (projectName) => {
    expect(await problemsOf(startDisabled({}, { projectName }))).toEqual([
      expect.stringContaining('projectName must be a name without braces'),
    ]);
  });

  describe('a Redis user of ours', () => {
    const KEYS = `~${PROJECT}:*`;
    const STATES = `~{${PROJECT}:*`;
    const CHANNEL = `&${PROJECT}:released`;

    const start = async (name: string, ...rules: string[]) => {
      await redis.call('ACL', 'SETUSER', name, 'on', '>secret', 'resetkeys', 'resetchannels', '+@all', ...rules);
      const told: JobEvents['storeMisconfigured'][] = [];
      const gained: string[] = [];
      const observer: JobObserver = {
        storeMisconfigured: (event) => void told.push(event),
        leadershipGained: ({ job }) => void gained.push(job),
      };

      @Injectable()
      class Jobs {
        runs = 0;

        @FixedRate('50ms', { name: 'tick' })
        tick(): void {
          this.runs += 1;
        }
      }

      @Module({
        imports: [
          SingletonJobModule.forRoot({
            projectName: PROJECT,
            connection: server().url.replace('//', `//${name}:secret@`),
            heartbeatInterval: PATIENT.heartbeatIntervalMs,
            lockExpiry: PATIENT.lockExpiryMs,
            observers: [observer],
          }),
        ],
        providers: [Jobs],
        exports: [Jobs],
      })
      class OurModule {}

      const { app, logger } = await startApplication({ imports: [OurModule] });
      const words = (): string => told.map(({ error }) => error.message).join('\n');
      return { app, logger, gained, words, jobs: app.get(Jobs, { strict: false }) };
    };

    it('needs the keys of the original, those of the state, and the channel', async () => {
      const { app, logger, jobs, words } = await start('complete', KEYS, STATES, CHANNEL);
      await until('the job runs', () => jobs.runs > 2);
      await app.close();
      expect(await redis.exists(LOCK)).toBe(0);
      expect(words()).toBe('');
      expect(logger.lines.filter((line) => /^(warn|error): /.test(line) && !LATE.test(line))).toEqual([]);
    });

    it.each([
      ['the keys of the original', STATES],
      ['the keys of the state', KEYS],
    ])('without %s leads nothing, and says what was refused', async (_what, keys) => {
      const { app, gained, words } = await start('incomplete', keys, CHANNEL);
      await until('it says so', () => words().includes('NOPERM'));
      expect(words()).toContain("'acquire'");
      await app.close();
      expect(gained).toEqual([]);
      expect(await redis.keys('*')).toEqual([]);
    });

    it('without the channel leads all the same, and says what was refused', async () => {
      const { app, jobs, words } = await start('mute', KEYS, STATES);
      await until('the job runs', () => jobs.runs > 2);
      await until('it says so', () => words().includes('NOPERM'));
      expect(words()).toContain(`'${PROJECT}:released'`);
      await app.close();
      expect(await redis.exists(LOCK)).toBe(0);
    });
  });
});
