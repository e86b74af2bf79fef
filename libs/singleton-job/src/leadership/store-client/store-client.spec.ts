import { setMaxListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { LockStoreError, type LockStoreErrorCode } from '../../base/errors/lock-store.error.js';
import { Listeners } from '../../store/listeners.js';
import { type LockStore } from '../../store/lock-store.js';
import { ManualClock, RecordingObserver, settle } from '../../testing/index.js';
import { type RequestKind, StoreClient } from './store-client.js';

const lost = () => new LockStoreError('STORE_UNREACHABLE', 'the connection was closed');

/** A client on a store that only connects, and a handler that answers the greeting by hand. */
function setup({ greets = true } = {}) {
  const clock = new ManualClock();
  const observer = new RecordingObserver(clock);
  const listeners = new Listeners();
  const log: string[] = [];
  const note = (text: string) => log.push(`${text}@${clock.now()}`);
  const store = {
    addListener: (listener) => listeners.add(listener),
    open: () => undefined,
    close: () => Promise.resolve(),
  } as Partial<LockStore> as LockStore;
  const backoff = { heartbeatIntervalMs: 3_000, maxBackoffDelayMs: 30_000 };
  const client = new StoreClient({ store, clock, notify: observer.notify, random: () => 0, backoff });
  let greeted: (() => void) | undefined;
  const open = () => {
    client.open({
      greet: () => {
        note('greet');
        return greets ? Promise.resolve() : new Promise((resolve) => (greeted = resolve));
      },
      ready: (isReconnect) => note(isReconnect ? 'ready again' : 'ready'),
    });
  };
  const disconnect = (error: LockStoreError): void => {
    listeners.each((listener) => listener.disconnected?.(error));
  };
  const cut = (requests: readonly Pending[] = []) => {
    listeners.each((listener) => listener.disconnected?.(lost()));
    for (const request of requests) request.reject(lost());
  };
  const connect = (): void => {
    listeners.each((listener) => listener.connected?.());
  };
  const deny = (error: LockStoreError): void => {
    listeners.each((listener) => listener.messagesDenied?.(error));
  };
  const lines = () => observer.eventLines;
  return {
    clock,
    client,
    open,
    cut,
    disconnect,
    connect,
    deny,
    greeted: () => greeted?.(),
    log,
    note,
    lines,
    observer,
  };
}

interface Pending {
  readonly resolve: (value: string) => void;
  readonly reject: (error: unknown) => void;
}

/** A request that is answered by hand, each time it is sent. */
function request({ client, note }: ReturnType<typeof setup>, name = 'tick', kind: RequestKind = 'renew') {
  const sent: Pending[] = [];
  const stop = new AbortController();
  const send = () =>
    new Promise<string>((resolve, reject) => {
      note(`send ${name}`);
      sent.push({ resolve, reject });
    });
  const start = (signal = stop.signal) => client.untilAnswered({ name, kind, signal, send });
  return { sent, stop, send, start };
}

const failing = (code: LockStoreErrorCode) => (): Promise<string> => Promise.reject(new LockStoreError(code, 'denied'));

describe('A request', () => {
  it('is sent once per connection, also if its answer takes long', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    const { sent, start } = request(fixture);
    const answer = start();
    await fixture.clock.advance(600_000);
    expect(sent).toHaveLength(1);
    sent[0]?.resolve('late');
    expect(await answer).toBe('late');
  });

  it('is sent again on the next connection, if its own has ended', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    const { sent, start } = request(fixture);
    const answer = start();
    await settle();
    fixture.cut(sent);
    await fixture.clock.advance(60_000);
    expect(sent).toHaveLength(1);
    fixture.connect();
    await settle();
    expect(sent).toHaveLength(2);
    sent[1]?.resolve('again');
    expect(await answer).toBe('again');
    expect(fixture.lines()).toEqual(['0 storeUnreachable', '60000 storeRecovered']);
  });

  it('waits for the connection, and for the answer to the heartbeat that is sent first on it', async () => {
    const fixture = setup({ greets: false });
    fixture.open();
    const { start, stop } = request(fixture);
    const answer = start();
    await fixture.clock.advance(1_000);
    expect(fixture.log).toEqual(['greet@0']);
    fixture.greeted();
    await settle();
    expect(fixture.log).toEqual(['greet@0', 'ready@1000', 'send tick@1000']);
    await fixture.client.close();
    stop.abort();
    expect(await answer).toBeUndefined();
  });

  it('does not wait for a first heartbeat that hangs, once a later one is answered', async () => {
    const fixture = setup({ greets: false });
    fixture.open();
    const { sent, start, stop } = request(fixture);
    const answer = start();
    await fixture.clock.advance(3_000);
    fixture.client.heartbeatAnswered();
    await settle();
    expect(sent).toHaveLength(1);
    fixture.greeted();
    await settle();
    expect(fixture.log).toEqual(['greet@0', 'ready@3000', 'send tick@3000']);
    stop.abort();
    await answer;
  });

  it('is not sent after a first heartbeat whose connection has ended', async () => {
    const fixture = setup({ greets: false });
    fixture.open();
    const { sent, start, stop } = request(fixture);
    const answer = start();
    await settle();
    fixture.cut();
    fixture.greeted();
    await settle();
    expect(sent).toEqual([]);
    fixture.connect();
    await settle();
    expect(sent).toEqual([]);
    fixture.greeted();
    await settle();
    expect(fixture.log.slice(-2)).toEqual(['ready again@0', 'send tick@0']);
    stop.abort();
    expect(await answer).toBeUndefined();
  });

  it.each<RequestKind>(['renew', 'claim', 'release'])(
    'to %s a lock is sent again every quarter to half a second after an error of the store',
    async (kind) => {
      const fixture = setup();
      fixture.open();
      await settle();
      const stop = new AbortController();
      let sent = 0;
      const send = (): Promise<string> => {
        sent += 1;
        return failing('STORE_MISCONFIGURED')();
      };
      const answer = fixture.client.untilAnswered({ name: 'tick', kind, signal: stop.signal, send });
      await fixture.clock.advance(10_000);
      expect(sent).toBe(41);
      stop.abort();
      expect(await answer).toBeUndefined();
      expect(fixture.clock.pendingTimers).toBe(0);
    },
  );

  it('to acquire a lock is sent again with growing delays after an error that needs a person', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    const stop = new AbortController();
    const sentAtMs: number[] = [];
    const send = () => {
      sentAtMs.push(fixture.clock.now());
      return failing('STORE_MISCONFIGURED')();
    };
    const answer = fixture.client.untilAnswered({ name: 'tick', kind: 'acquire', signal: stop.signal, send });
    await fixture.clock.advance(70_000);
    // a fifth less than 3, 6, 12, 24 and 30 s
    expect(sentAtMs).toEqual([0, 2_400, 7_200, 16_800, 36_000, 60_000]);
    stop.abort();
    await answer;
  });

  it('ends its back-off with a new connection', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    const stop = new AbortController();
    let sent = 0;
    const send = () => {
      sent += 1;
      return failing('STORE_MISCONFIGURED')();
    };
    const answer = fixture.client.untilAnswered({ name: 'tick', kind: 'acquire', signal: stop.signal, send });
    await fixture.clock.advance(1_000);
    fixture.cut();
    fixture.connect();
    await settle();
    expect(sent).toBe(2);
    stop.abort();
    await answer;
  });

  it('ends its back-off when a request of the same kind works for another lock', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    const stop = new AbortController();
    let isDenied = true;
    const send = () => (isDenied ? failing('STORE_MISCONFIGURED')() : Promise.resolve('done'));
    const start = (name: string) => fixture.client.untilAnswered({ name, kind: 'acquire', signal: stop.signal, send });
    const first = start('one');
    await fixture.clock.advance(2_000);
    const second = start('two');
    await settle();
    isDenied = false;
    // the first is sent again after 2.4 s
    await fixture.clock.advance(400);
    expect(await Promise.all([first, second])).toEqual(['done', 'done']);
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  it('is not awaited after its signal has aborted', async () => {
    const fixture = setup();
    const waiting = [request(fixture), request(fixture)];
    const [early, late] = waiting as [(typeof waiting)[0], (typeof waiting)[0]];
    const waitsForConnection = early.start();
    fixture.open();
    await settle();
    const waitsForAnswer = late.start();
    for (const { stop } of waiting) stop.abort();
    expect(await Promise.all([waitsForConnection, waitsForAnswer])).toEqual([undefined, undefined]);
  });

  it('is not sent at all if its signal has aborted before', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    const { sent, start } = request(fixture);
    expect(await start(AbortSignal.abort())).toBeUndefined();
    expect(sent).toEqual([]);
  });

  it('that throws counts as rejected', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    let isFirst = true;
    const send = () => {
      if (!isFirst) return Promise.resolve('done');
      isFirst = false;
      throw new TypeError('no connection');
    };
    const signal = new AbortController().signal;
    const answer = fixture.client.untilAnswered({ name: 'tick', kind: 'renew', signal, send });
    await fixture.clock.advance(250);
    expect(await answer).toBe('done');
  });
});

describe('A request with a time limit', () => {
  it('ends with its limit while there is no connection', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    fixture.cut();
    const { send, sent } = request(fixture);
    const answer = fixture.client.answeredWithin({ name: 'tick', kind: 'acquire', send }, 2_000);
    await fixture.clock.advance(2_000);
    expect(await answer).toBeUndefined();
    expect(sent).toEqual([]);
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  it('ends with its limit while it is not answered', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    const { send } = request(fixture);
    const answer = fixture.client.answeredWithin({ name: 'tick', kind: 'acquire', send }, 2_000);
    await fixture.clock.advance(2_000);
    expect(await answer).toBeUndefined();
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  it('ends with its limit while it backs off', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    const send = failing('STORE_MISCONFIGURED');
    const answer = fixture.client.answeredWithin({ name: 'tick', kind: 'acquire', send }, 2_000);
    await fixture.clock.advance(2_000);
    expect(await answer).toBeUndefined();
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  it('has ended before it begins once the client is closed', async () => {
    const { client } = setup();
    await client.close();
    expect(await client.withTimeout(1_000, (signal) => Promise.resolve(signal.aborted))).toBe(true);
  });

  it('ends when the client is closed', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    const { send } = request(fixture);
    const answer = fixture.client.answeredWithin({ name: 'tick', kind: 'release', send }, 60_000);
    await fixture.client.close();
    expect(await answer).toBeUndefined();
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  it('in the background continues, and drained() waits for it', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    const { send, sent } = request(fixture);
    fixture.client.inBackground({ name: 'tick', kind: 'release', send }, 60_000);
    let isDrained = false;
    void fixture.client.drained().then(() => (isDrained = true));
    await fixture.clock.advance(1_000);
    expect(isDrained).toBe(false);
    sent[0]?.resolve('released');
    await settle();
    expect(isDrained).toBe(true);
  });
});

describe('An error of the store', () => {
  const setupFailing = async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const fate: { code: LockStoreErrorCode | undefined } = { code: 'STORE_MISCONFIGURED' };
    const start = (name: string, kind: RequestKind = 'renew') =>
      fixture.client.untilAnswered({
        name,
        kind,
        signal: stop.signal,
        send: () => (fate.code === undefined ? Promise.resolve('done') : failing(fate.code)()),
      });
    return { ...fixture, start, stop, fate };
  };

  it('is reported once for each job, until it works again', async () => {
    const { start, stop, fate, clock, lines } = await setupFailing();
    const answers = [start('one'), start('two')];
    await clock.advance(10_000);
    expect(lines()).toEqual(['0 requestDenied one', '0 requestDenied two']);
    fate.code = undefined;
    await clock.advance(1_000);
    await Promise.all(answers);
    fate.code = 'STORE_MISCONFIGURED';
    void start('one');
    await settle();
    expect(lines()).toHaveLength(3);
    stop.abort();
  });

  it('is reported once, also if the request is given up and sent again', async () => {
    const fixture = await setupFailing();
    for (let round = 0; round < 3; round += 1) {
      const limited = fixture.client.answeredWithin(
        { name: 'one', kind: 'acquire', send: failing('STORE_MISCONFIGURED') },
        1_000,
      );
      await fixture.clock.advance(1_000);
      await limited;
    }
    expect(fixture.lines()).toEqual(['0 requestDenied']);
  });

  it('about an unreachable store is an outage of that job, from the second in a row', async () => {
    const { start, fate, clock, lines, client } = await setupFailing();
    fate.code = 'STORE_UNREACHABLE';
    const answer = start('one');
    await clock.advance(100);
    expect(lines()).toEqual([]);
    await clock.advance(200);
    expect(lines()).toEqual(['250 storeUnreachable']);
    expect(client.outages).toEqual([['one', 50]]);
    fate.code = undefined;
    await clock.advance(250);
    await answer;
    expect(lines()).toEqual(['250 storeUnreachable', '500 storeRecovered']);
    expect(client.outages).toEqual([]);
  });

  it('that affects all jobs is reported once and without a job, until a request of that kind works', async () => {
    const { client, observer, clock } = await setupFailing();
    const denied = new LockStoreError('STORE_MISCONFIGURED', 'NOPERM', { affectsAllJobs: true });
    let isDenied = true;
    const send = () => (isDenied ? Promise.reject(denied) : Promise.resolve('done'));
    const signal = new AbortController().signal;
    const acquire = (name: string) => client.untilAnswered({ name, kind: 'acquire', signal, send });
    const answers = ['one', 'two', 'three'].map(acquire);
    client.heartbeatFailed(denied, 1);
    await settle();
    expect(observer.of('requestDenied')).toEqual([{ error: denied, deniedMs: 0 }]);

    isDenied = false;
    await clock.advance(5_000);
    await Promise.all(answers);
    client.heartbeatAnswered();
    client.heartbeatFailed(denied, 1);
    expect(observer.of('requestDenied')).toHaveLength(2);
  });

  it('that affects all jobs is reported once, also while requests for other locks work', async () => {
    const { client, observer, clock } = await setupFailing();
    const denied = new LockStoreError('STORE_MISCONFIGURED', 'NOPERM', { affectsAllJobs: true });
    const { signal } = new AbortController();
    void client.untilAnswered({ name: 'denied', kind: 'release', signal, send: () => Promise.reject(denied) });
    await settle();
    for (let lock = 0; lock < 20; lock++) {
      for (const kind of ['acquire', 'release'] as const) {
        await client.untilAnswered({ name: `lock-${lock}`, kind, signal, send: () => Promise.resolve('done') });
      }
      await clock.advance(1_000);
    }
    expect(observer.of('requestDenied')).toHaveLength(1);
  });

  it('that continues is reported again after 1, 2, 4 and 8 minutes', async () => {
    const { start, stop, clock, observer } = await setupFailing();
    void start('one');
    await clock.advance(10 * 60_000);
    const minutes = observer.of('requestDenied').map(({ deniedMs }) => Math.round(deniedMs / 60_000));
    expect(minutes).toEqual([0, 1, 2, 4, 8]);
    stop.abort();
    await settle();
  });

  it('about the channel does not hide an error of a job', async () => {
    const { start, stop, observer, deny } = await setupFailing();
    deny(new LockStoreError('STORE_MISCONFIGURED', 'the channel', { affectsAllJobs: true }));
    void start('one');
    await settle();
    expect(observer.of('warning')).toMatchObject([{ code: 'MESSAGES_DENIED' }]);
    expect(observer.of('requestDenied')).toMatchObject([{ job: 'one' }]);
    stop.abort();
    await settle();
  });

  it('of a heartbeat is reported for every job', async () => {
    const { client, observer } = await setupFailing();
    client.heartbeatFailed(new LockStoreError('STORE_REFUSED_WRITE', 'OOM'), 1);
    client.heartbeatFailed(new LockStoreError('STORE_REFUSED_WRITE', 'OOM'), 2);
    expect(observer.events.map(({ payload }) => 'job' in payload)).toEqual([false]);
    client.heartbeatAnswered();
    client.heartbeatFailed(new LockStoreError('STORE_REFUSED_WRITE', 'OOM'), 1);
    expect(observer.events).toHaveLength(2);
  });

  it('is forgotten for the oldest of more than 1,000 names', async () => {
    const { start, stop, lines } = await setupFailing();
    for (let name = 0; name <= 1_000; name += 1) void start(`tenant-${name}`, 'acquire');
    await settle();
    expect(lines()).toHaveLength(1_001);
    void start('tenant-0', 'acquire');
    void start('tenant-1000', 'acquire');
    await settle();
    expect(lines()).toHaveLength(1_002);
    stop.abort();
    await settle();
  });
});

describe('An outage', () => {
  it('is reported once when it begins and once when the first heartbeat after it is answered', async () => {
    const fixture = setup({ greets: false });
    fixture.open();
    fixture.greeted();
    await settle();
    fixture.cut();
    fixture.cut();
    await fixture.clock.advance(5_000);
    expect(fixture.client.outages).toEqual([[undefined, 5_000]]);
    fixture.connect();
    await fixture.clock.advance(1_000);
    // cut again before the heartbeat is answered: it is still the same outage
    fixture.cut();
    await fixture.clock.advance(1_000);
    fixture.connect();
    fixture.greeted();
    await settle();
    expect(fixture.lines()).toEqual(['0 storeUnreachable', '7000 storeRecovered']);
    expect(fixture.client.outages).toEqual([]);
  });

  it('is reported again after 1, 2 and 4 minutes, by the heartbeats that fail meanwhile', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    fixture.cut();
    for (let beat = 0; beat < 100; beat += 1) {
      await fixture.clock.advance(3_000);
      fixture.client.heartbeatFailed(lost(), beat);
    }
    const minutes = fixture.observer.of('storeUnreachable').map(({ outageMs }) => outageMs / 60_000);
    expect(minutes).toEqual([0, 1, 2, 4]);
  });

  it('that a person must end is reported once as denied, if it did not begin so', async () => {
    const denied = new LockStoreError('STORE_MISCONFIGURED', 'WRONGPASS', { affectsAllJobs: true });
    const fixture = setup();
    fixture.open();
    await settle();
    fixture.cut();
    for (let attempt = 0; attempt < 2; attempt += 1) fixture.disconnect(denied);
    expect(fixture.lines()).toEqual(['0 storeUnreachable', '0 requestDenied']);

    const other = setup();
    other.open();
    await settle();
    for (let attempt = 0; attempt < 2; attempt += 1) other.disconnect(denied);
    expect(other.lines()).toEqual(['0 storeUnreachable']);
  });

  it('is reported once more when its cause shows later', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    fixture.cut();
    await fixture.clock.advance(300);
    for (const cause of ['Vault is sealed', 'Vault is sealed', 'no route'])
      fixture.disconnect(new LockStoreError('STORE_UNREACHABLE', cause));
    expect(fixture.observer.of('storeUnreachable')).toMatchObject([
      { outageMs: 0 },
      { outageMs: 300, error: { message: 'Vault is sealed' } },
    ]);
  });

  it('is not reported once the client is closed', async () => {
    const fixture = setup();
    fixture.open();
    await settle();
    await fixture.client.close();
    fixture.cut();
    expect(fixture.lines()).toEqual([]);
  });
});
