import { Injectable } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { FixedRate } from 'nestjs-singleton-job';
import { brokenFences, overlaps } from '../support/history.js';
import { problemsOf, startDisabled } from '../support/nest-application.js';
import { type OriginalVersion } from '../support/original-belief.js';
import { PROJECT } from '../support/original-mixed-fleet.js';
import { until } from '../support/until.js';
import {
  leads,
  led,
  LOCK,
  often,
  PATIENT,
  QUICK,
  STATE,
  useMixedFleets,
  VERSIONS,
} from '../support/use-mixed-fleets.js';

describe('In a mixed fleet', () => {
  const { mixed, redis, connect } = useMixedFleets();

  describe.each(VERSIONS)('with the original %s', (version) => {
    it('a replica of ours follows an original that leads, and leads once it has stopped', async () => {
      const fleet = mixed(PATIENT);
      const theirs = fleet.original('theirs', { version, schedule: often });
      await until('the original runs', () => fleet.runsOf('theirs').length > 0);
      const ours = fleet.ours('ours', { schedule: often });
      await until('ours was refused', () => ours.store.count('acquire') > 3);
      expect(leads(ours)).toBe(false);
      expect(await redis().get(LOCK)).toBe('theirs');
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
      const livesForMs = await redis().pttl(LOCK);
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

    it('nothing but the lock is shared: the original neither reads nor writes our state, and hears and tells nothing', async () => {
      const fleet = mixed(PATIENT);
      const first = fleet.ours('ours-1', { schedule: often });
      await until('ours runs', () => fleet.runsOf('ours-1').length > 2);
      await first.supervisor.close();
      const state = await redis().hgetall(STATE);

      const listener = connect();
      const heard: string[] = [];
      listener.on('message', (_channel, message) => heard.push(message));
      await listener.subscribe(`${PROJECT}:released`);
      const theirs = fleet.original('theirs', { version, schedule: often });
      await until('the original runs', () => fleet.runsOf('theirs').length > 2);
      expect((await redis().keys('*')).sort()).toEqual([LOCK, STATE]);
      await until('only the listener is subscribed', async () => {
        const [, subscribers] = (await redis().pubsub('NUMSUB', `${PROJECT}:released`)) as [string, number];
        return subscribers === 1;
      });
      await theirs.stop();
      expect(await redis().hgetall(STATE)).toEqual(state);

      const second = fleet.ours('ours-2', { schedule: often });
      await until('ours runs', () => fleet.runsOf('ours-2').length > 2);
      await second.supervisor.close();
      await until('our own release is heard of', () => heard.length > 0);
      expect(heard.every((message) => message.includes('ours-2'))).toBe(true);
      // fencing holds among ours, across a leadership of theirs
      expect(brokenFences(fleet.runsOfOurs)).toEqual([]);
    });

    it.each(['tick', 'price-tick', 'Prices.tick', 'täglich_1'])(
      'the key of the lock has the same bytes: %s',
      async (name) => {
        const locks = async (): Promise<string[]> =>
          (await redis().keysBuffer('*:lock')).map((key) => key.toString('hex'));
        const fleet = mixed(PATIENT);
        const theirs = fleet.original('theirs', { version, job: name, schedule: often });
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
      const theirs = fleet.original('theirs', { version, schedule: often });
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
      await until('the other one asks nothing for five heartbeats', async () => {
        const asked = other.store.count('acquire');
        const renewed = ours.store.count('renew');
        await until('our leader renews on', () => ours.store.count('renew') >= renewed + 5);
        return other.store.count('acquire') === asked;
      });
      expect(leads(other)).toBe(false);
    });
  });

  /** Ours leads after an original that is cut off from Redis; `beside` are the runs of that one from then on. */
  const takeOverFromCutOff = async (version: OriginalVersion) => {
    const fleet = mixed(QUICK);
    const theirs = fleet.original('theirs', { version, schedule: often });
    await until('the original runs', () => fleet.runsOf('theirs').length > 0);
    const ours = fleet.ours('ours', { schedule: often });
    await until('ours was refused', () => ours.lastSight() > 0);
    theirs.cutOff();
    await until('ours runs', () => fleet.runsOf('ours').length > 0);
    const fromMs = Math.min(...fleet.runsOf('ours').map(({ startedAtMs }) => startedAtMs));
    const beside = (): number => fleet.runsOf('theirs').filter(({ startedAtMs }) => startedAtMs > fromMs).length;
    return { fleet, beside };
  };

  it('an original 1.0.0 that is cut off is not kept out: it runs on beside ours', async () => {
    const { fleet, beside } = await takeOverFromCutOff('1.0.0');
    await until('both run', () => beside() > 5 && fleet.runsOf('ours').length > 5);
  });

  it('an original main that is cut off starts nothing beside ours', async () => {
    const { fleet, beside } = await takeOverFromCutOff('main');
    await until('ours runs on', () => fleet.runsOf('ours').length > 10);
    expect(beside()).toBe(0);
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
});
