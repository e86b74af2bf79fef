import { expect, it } from '@jest/globals';
import { jobRecord } from '../leadership/record.js';
import { type BackupReport } from '../leadership/backup.js';
import { Replica } from '../leadership/replica.js';
import { type Term } from '../leadership/term.js';
import { FaultyServer } from '../testing/faulty-server.js';
import { ManualClock } from '../testing/manual-clock.js';
import { FaultyStore } from '../../../../test/support/faulty-store.js';
import { HaltingClock } from '../../../../test/support/halting-clock.js';
import { BackupHeartbeats } from './backup-heartbeats.js';

/** Two replicas that want one job. The main thread of the first one, which leads, can be blocked while its heartbeat thread works. */
async function setup() {
  const common = new ManualClock();
  const server = new FaultyServer(common);
  const gained: string[] = [];
  const terms: Term[] = [];
  const reports: BackupReport[] = [];
  const thread = new BackupHeartbeats({
    store: new FaultyStore(server, new HaltingClock(common)),
    clock: common,
    report: (report) => reports.push(structuredClone(report)),
    reportUnreachable: () => undefined,
  });
  const backup = {
    update: (state: Parameters<BackupHeartbeats['receive']>[0]) => {
      thread.receive(structuredClone(state));
    },
    takeReports: () => reports.splice(0),
    close: () => Promise.resolve(),
  };
  const start = (id: string, clock: HaltingClock) => {
    const settings = { id, lifeMs: 10_000, heartbeatIntervalMs: 3_000, random: () => 0, observer: {} };
    const store = new FaultyStore(server, clock);
    const replica = new Replica({ ...settings, store, clock, ...(id === 'a' && { backup }) });
    const candidate = {
      name: jobRecord('job'),
      kind: 'job',
      lifeMs: 10_000,
      isIdle: true,
      lead: (term: Term) => {
        terms.push(term);
        gained.push(`${Math.floor(common.now())} ${id}`);
      },
    } as const;
    replica.open();
    replica.electionFor(candidate).compete();
    return replica;
  };
  const main = new HaltingClock(common);
  const leader = start('a', main);
  await common.advance(100);
  start('b', new HaltingClock(common));
  await common.advance(10_000);
  return { common, server, main, leader, thread, gained, terms };
}

it('A term outlives a blocked event loop of 15 s', async () => {
  const { common, main, gained, terms } = await setup();
  main.halt('paused');
  await common.advance(15_000);
  // the job looks before anything else could run
  expect(terms[0]?.isValid()).toBe(true);
  main.resume();
  await common.advance(60_000);
  expect([gained, terms[0]?.end]).toEqual([['0 a'], undefined]);
});

it('A term does not outlive a blocked event loop of 40 s', async () => {
  const { common, main, gained, terms } = await setup();
  main.halt('paused');
  await common.advance(40_000);
  expect(terms[0]?.isValid()).toBe(false);
  main.resume();
  await common.advance(10_000);
  expect([gained[1], terms[0]?.end]).toEqual([expect.stringMatching(/^3\d{4} b$/), 'expired']);
});

it('When the process ends, no run starts from then on, and another replica leads at once', async () => {
  const { common, main, leader, thread, gained, terms } = await setup();
  main.halt('paused');
  leader.disown();
  expect(terms[0]?.isValid()).toBe(false);
  await thread.endLeases();
  await common.advance(50);
  expect(gained[1]).toMatch(/^101\d\d b$/);
  // it has survived
  main.resume();
  await common.advance(10_000);
  expect([gained.length, terms[0]?.end]).toEqual([2, 'expired']);
});
