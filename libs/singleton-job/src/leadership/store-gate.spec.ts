import { describe, expect, it } from '@jest/globals';
import { LockStoreError, type LockStoreErrorCode } from '../errors/index.js';
import { ManualClock, RecordingObserver, settle } from '../testing/index.js';
import { type Asker } from './question.js';
import { StoreGate } from './store-gate.js';

type Fate = 'yes' | 'hangs' | 'late' | LockStoreErrorCode;

function setup() {
  const clock = new ManualClock();
  const observer = new RecordingObserver(clock);
  const recoveries: number[] = [];
  const closing = new AbortController();
  const quit = new AbortController();
  const sent: string[] = [];
  const late: ((answer: string) => void)[] = [];
  /** What happens to the questions of a job, or of all. */
  const fates = new Map<string, Fate>();
  const gate = new StoreGate({
    clock,
    notify: observer.notify,
    random: () => 0,
    heartbeatIntervalMs: 3_000,
    together: (send) => {
      send();
    },
    probe: (job) => send(job, 'nobody'),
    onRecovery: () => recoveries.push(clock.now()),
    closing: closing.signal,
  });

  const send = (job: string, asker = job): Promise<string> => {
    sent.push(`${Math.round(clock.now())} ${asker}`);
    const fate = fates.get(job) ?? fates.get('all') ?? 'yes';
    if (fate === 'yes') return Promise.resolve('yes');
    if (fate === 'late')
      return new Promise((resolve) =>
        clock.setTimer(1_200, () => {
          resolve('yes');
        }),
      );
    if (fate === 'hangs') return new Promise((resolve) => late.push(resolve));
    return Promise.reject(new LockStoreError(fate, fate));
  };
  const askOnce = (job: string, asker: Asker = 'bid') =>
    gate.ask({ job, asker, deadlineMs: 1_000, signal: quit.signal, send: () => send(job) });
  /** Asks until it is answered, as elections do. */
  const ask = async (job: string, asker: Asker = 'bid'): Promise<string | undefined> => {
    while (!quit.signal.aborted) {
      if (asker === 'bid') await gate.pause(job, quit.signal);
      try {
        return await askOnce(job, asker);
      } catch {
        continue;
      }
    }
    return undefined;
  };
  return { clock, observer, gate, sent, quit, closing, recoveries, fates, late, ask, askOnce };
}

describe('The gate before the store', () => {
  it('lets everybody through while the store answers', async () => {
    const { sent, ask } = setup();
    await Promise.all([ask('a'), ask('b'), ask('c')]);
    expect(sent).toEqual(['0 a', '0 b', '0 c']);
  });

  it('sends a question before it returns, so that questions of one turn leave together', () => {
    const { sent, askOnce } = setup();
    void askOnce('a');
    expect(sent).toEqual(['0 a']);
  });

  it('sends nothing for somebody who has left', async () => {
    const { sent, askOnce, quit } = setup();
    quit.abort();
    expect(await askOnce('a')).toBeUndefined();
    expect(sent).toEqual([]);
  });

  describe('in an outage', () => {
    it('lets one probe at a time through, at most every half second', async () => {
      const { clock, sent, ask, fates, quit, closing } = setup();
      fates.set('all', 'STORE_UNREACHABLE');
      for (const job of ['a', 'b', 'c']) void ask(job);
      await clock.advance(2_000);
      expect(sent.slice(0, 1)).toEqual(['0 a']);
      expect(sent.slice(3)).toEqual(['500 a', '1000 b', '1500 c', '2000 a']);
      quit.abort();
      closing.abort();
      await settle();
      expect(clock.pendingTimers).toBe(0);
    });

    it('probes for a leader first, and sooner, to save its lease', async () => {
      const { clock, sent, ask, fates, quit } = setup();
      fates.set('all', 'STORE_UNREACHABLE');
      void ask('follower');
      await settle();
      void ask('leader', 'leader');
      await clock.advance(250);
      expect(sent).toEqual(['0 follower', '250 leader']);
      quit.abort();
      await settle();
    });

    it('says so once when a second question is not answered either, and once when it is over', async () => {
      const { clock, observer, recoveries, ask, fates } = setup();
      fates.set('all', 'STORE_UNREACHABLE');
      const asking = ['a', 'b', 'c'].map((job) => ask(job));
      await clock.advance(5_200);
      fates.clear();
      await clock.advance(300);
      await Promise.all(asking);
      expect(observer.story).toEqual(['500 storeUnreachable', '5500 storeRecovered']);
      expect(observer.of('storeRecovered')).toEqual([{ outageMs: 5_500 }]);
      expect(recoveries).toEqual([5_500]);
    });

    it('lets everybody through again at the first answer', async () => {
      const { clock, sent, ask, fates } = setup();
      fates.set('all', 'STORE_UNREACHABLE');
      const asking = ['a', 'b', 'c'].map((job) => ask(job));
      await clock.advance(2_100);
      fates.clear();
      await clock.advance(400);
      await Promise.all(asking);
      expect(sent.slice(-3).map((line) => line.split(' ')[0])).toEqual(['2500', '2500', '2500']);
      expect(clock.pendingTimers).toBe(0);
    });

    it('is not over for an answer to a question that was sent before it began', async () => {
      const { clock, observer, ask, late, fates, quit } = setup();
      fates.set('early', 'hangs');
      void ask('early');
      fates.set('all', 'STORE_UNREACHABLE');
      void ask('a');
      await clock.advance(600);
      late[0]?.('yes');
      await clock.advance(100);
      expect(observer.story).toEqual(['500 storeUnreachable']);
      quit.abort();
      await clock.advance(1_000);
    });

    it('probes at once when the store says that it is there again', async () => {
      const { clock, gate, sent, ask, fates } = setup();
      fates.set('all', 'STORE_UNREACHABLE');
      const asking = ask('a');
      await clock.advance(50);
      fates.clear();
      expect(gate.probeNow()).toBe(true);
      await asking;
      expect(sent).toEqual(['0 a', '50 a']);
      expect(gate.probeNow()).toBe(false);
      expect(clock.pendingTimers).toBe(0);
    });

    it('sends away whoever leaves while waiting', async () => {
      const { clock, ask, fates, quit, sent, closing } = setup();
      fates.set('all', 'STORE_UNREACHABLE');
      const asking = ask('a');
      await settle();
      quit.abort();
      expect(await asking).toBeUndefined();
      expect(sent).toEqual(['0 a']);
      closing.abort();
      expect(clock.pendingTimers).toBe(0);
    });
  });

  it('keeps no timer for a probe once it is closed, and a late answer has let through whoever waited', async () => {
    const { clock, askOnce, fates, late, sent, closing } = setup();
    fates.set('all', 'hangs');
    void askOnce('a').catch(() => undefined);
    await clock.advance(1_000);
    void askOnce('b', 'leader').catch(() => undefined);
    closing.abort();
    late[0]?.('yes');
    await settle();
    expect(sent).toEqual(['0 a', '1000 b']);
    // the one of its deadline
    expect(clock.pendingTimers).toBe(1);
  });

  describe('in an outage in which nobody asks any more', () => {
    /** Two questions that were not answered, and whoever asked has given up. */
    async function abandoned(...jobs: string[]) {
      const world = setup();
      world.fates.set('all', 'STORE_UNREACHABLE');
      for (const job of jobs) void world.ask(job);
      await world.clock.advance(700);
      world.quit.abort();
      await settle();
      world.sent.length = 0;
      return world;
    }

    it('asks by itself, at the same pace, until the store answers', async () => {
      const { clock, observer, recoveries, sent, fates } = await abandoned('a');
      await clock.advance(1_000);
      expect(sent).toEqual(['1000 nobody', '1500 nobody']);
      fates.clear();
      await clock.advance(60_000);
      expect(sent).toEqual(['1000 nobody', '1500 nobody', '2000 nobody']);
      expect(observer.story).toEqual(['500 storeUnreachable', '2000 storeRecovered']);
      expect(recoveries).toEqual([2_000]);
      expect(clock.pendingTimers).toBe(0);
    });

    it('asks at once when the store says that it is there again', async () => {
      const { clock, observer, gate, fates } = await abandoned('a');
      fates.clear();
      expect(gate.probeNow()).toBe(true);
      await settle();
      expect(observer.story).toEqual(['500 storeUnreachable', '700 storeRecovered']);
      expect(clock.pendingTimers).toBe(0);
    });

    it('asks about another one each time, so that a single broken one does not prolong it', async () => {
      const { clock, observer, fates } = await abandoned('broken', 'a');
      fates.clear();
      fates.set('broken', 'STORE_UNREACHABLE');
      await clock.advance(1_000);
      expect(observer.story).toEqual(['500 storeUnreachable', expect.stringContaining('storeRecovered')]);
    });

    it('asks about names of nobody once its own have no one, so that a broken one does not prolong it either', async () => {
      const { clock, observer, gate, fates } = await abandoned('broken');
      fates.clear();
      fates.set('broken', 'hangs');
      await clock.advance(400);
      // its probe is under way
      gate.forget('broken');
      await clock.advance(2_500);
      expect(observer.story).toEqual(['500 storeUnreachable', expect.stringContaining('storeRecovered')]);
      expect(gate.outages).toEqual([]);
      expect(clock.pendingTimers).toBe(0);
    });

    it.each(['STORE_UNREACHABLE', 'hangs'] as const)('leaves nothing behind when it is closed: %s', async (fate) => {
      const { clock, observer, sent, fates, closing } = await abandoned('a');
      fates.set('all', fate);
      await clock.advance(500);
      closing.abort();
      await settle();
      expect(clock.pendingTimers).toBe(0);
      await clock.advance(10_000);
      expect(sent).toHaveLength(1);
      expect(observer.story).toEqual(['500 storeUnreachable']);
    });
  });

  it('takes no single lost answer for an outage', async () => {
    const { clock, observer, ask, fates } = setup();
    fates.set('a', 'STORE_UNREACHABLE');
    const asking = ask('a');
    await settle();
    fates.clear();
    await clock.advance(500);
    expect(await asking).toBe('yes');
    expect(observer.story).toEqual([]);
  });

  it('takes a question that is not answered in time for unknown', async () => {
    const { clock, askOnce, fates } = setup();
    fates.set('a', 'hangs');
    const failed = expect(askOnce('a')).rejects.toMatchObject({
      code: 'STORE_UNREACHABLE',
      message: 'no answer within 1000 ms',
    });
    await clock.advance(1_000);
    await failed;
  });

  it('tells a store that always answers too late as one outage, and lets leaders ask on', async () => {
    const { clock, observer, ask, fates, quit, sent } = setup();
    fates.set('all', 'late');
    for (const job of ['a', 'b', 'c']) void ask(job, 'leader');
    void ask('follower');
    await clock.advance(12_000);
    expect(observer.story.filter((line) => line.includes('store'))).toHaveLength(1);
    for (const job of ['a', 'b', 'c']) expect(sent.filter((line) => line.endsWith(job)).length).toBeGreaterThan(5);
    quit.abort();
    await clock.advance(2_000);
  });

  describe('when one job fails while others are answered', () => {
    it('keeps nobody else waiting, asks for it about twice a second, and says so once', async () => {
      const { clock, observer, recoveries, ask, fates, sent, quit } = setup();
      fates.set('broken', 'STORE_UNREACHABLE');
      void ask('broken');
      for (let second = 0; second < 60; second++) {
        await clock.advance(1_000);
        void ask('a');
        void ask('b');
      }
      // nobody else was asking at first
      expect(observer.of('storeUnreachable').map(({ job }) => job)).toEqual([undefined, 'broken']);
      expect(recoveries).toHaveLength(1);
      expect(sent.filter((line) => line.endsWith('broken')).length).toBeLessThanOrEqual(125);
      await settle();
      expect(sent.filter((line) => line.endsWith('a'))).toHaveLength(60);
      fates.clear();
      await clock.advance(1_000);
      expect(observer.of('storeRecovered').map(({ job }) => job)).toEqual([undefined, 'broken']);
      quit.abort();
    });

    it('tells its trouble and its recovery once each, whatever outages come in between', async () => {
      const { clock, observer, ask, fates, quit } = setup();
      fates.set('broken', 'STORE_UNREACHABLE');
      void ask('a');
      void ask('broken');
      void ask('b');
      await clock.advance(5_000);
      for (let outage = 0; outage < 2; outage++) {
        fates.set('all', 'STORE_UNREACHABLE');
        void ask('a');
        void ask('b');
        await clock.advance(5_000);
        fates.delete('all');
        await clock.advance(5_000);
      }
      fates.clear();
      await clock.advance(2_000);
      const ofBroken = <T extends { readonly job?: string }>(events: T[]) =>
        events.filter(({ job }) => job === 'broken');
      expect(ofBroken(observer.of('storeUnreachable'))).toHaveLength(1);
      expect(ofBroken(observer.of('storeRecovered'))).toHaveLength(1);
      quit.abort();
    });

    it('finds out even if the failing one leads', async () => {
      const { clock, observer, ask, fates, sent, quit } = setup();
      fates.set('broken', 'STORE_UNREACHABLE');
      void ask('broken', 'leader');
      await settle();
      const answered = ask('follower');
      await clock.advance(600);
      expect(await answered).toBe('yes');
      await clock.advance(5_000);
      expect(observer.of('storeUnreachable').map(({ job }) => job)).toEqual(['broken']);
      expect(sent.filter((line) => line.endsWith('follower'))).toHaveLength(1);
      quit.abort();
      await settle();
    });
  });

  it('takes a refusal for an answer: the store is there', async () => {
    const { clock, observer, ask, askOnce, fates } = setup();
    fates.set('all', 'STORE_UNREACHABLE');
    const asking = ask('a');
    await clock.advance(600);
    fates.clear();
    fates.set('b', 'STORE_MISCONFIGURED');
    const refused = askOnce('b').catch(() => 'refused');
    await clock.advance(400);
    expect(await refused).toBe('refused');
    expect(await asking).toBe('yes');
    expect(observer.story).toEqual(['500 storeUnreachable', '1000 storeRecovered']);
  });

  it('says nothing of failures while the store is being closed', async () => {
    const { clock, observer, ask, fates, closing, quit } = setup();
    closing.abort();
    fates.set('all', 'STORE_UNREACHABLE');
    void ask('a');
    await clock.advance(5_000);
    expect(observer.story).toEqual([]);
    quit.abort();
    await settle();
  });
});
