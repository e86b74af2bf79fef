import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it } from '@jest/globals';
import { diagnostics } from '../../libs/singleton-job/src/base/events/diagnostics.js';
import { type JobObserver, notifyAll } from '../../libs/singleton-job/src/base/events/observer.js';
import { attempt } from '../../tools/workspace/command.js';
import { startApplication } from '../support/nest-application.js';
import { useRedis } from '../../tools/replicas/redis/use-redis.js';
import { until } from '../../tools/replicas/until.js';
import { Interval, JOB_EVENTS, SingletonJobModule } from 'nestjs-singleton-job';
import { type Report } from '../support/throwing-subscriber.js';

const redis = useRedis();
const RELEASED = { job: 'prices', fencingToken: 7, reason: 'shutdown', confirmed: true, runInFlight: false } as const;

/** Listens to one channel until the returned function is called. */
function listen(event: string, receive: (payload: unknown) => void): () => void {
  const name = `nestjs-singleton-job:${event}`;
  subscribe(name, receive);
  return () => {
    unsubscribe(name, receive);
  };
}

describe('the diagnostics channels', () => {
  it('exist for each event', () => {
    expect(Object.keys(diagnostics)).toEqual(Object.keys(JOB_EVENTS));
  });

  it('get the same events as the observers of an application', async () => {
    const events = ['leadershipGained', 'runSucceeded', 'leaseRenewed', 'leadershipReleased'] as const;
    const observed: [string, unknown][] = [];
    const published: [string, unknown][] = [];
    const stops = events.map((event) => listen(event, (payload) => published.push([event, payload])));
    const note = (event: string) => (payload: unknown) => void observed.push([event, payload]);
    const observer: JobObserver = Object.fromEntries(events.map((event) => [event, note(event)]));
    class Prices {
      tick(): void {}
    }
    Interval('100ms', { name: 'prices' })(Prices.prototype, 'tick', descriptorOf(Prices.prototype));
    const { app } = await startApplication({
      imports: [
        SingletonJobModule.forRoot({
          projectName: `diagnostics-${randomUUID()}`,
          connection: redis().url,
          heartbeatInterval: '100ms',
          observers: [observer],
        }),
      ],
      providers: [Prices],
    });
    const observedEvents = (): Set<unknown> => new Set(observed.map(([event]) => event));
    await until('it leads, runs, and renews its lease', () => observedEvents().size === 3);
    await app.close();
    for (const stop of stops) stop();
    expect(observedEvents()).toEqual(new Set(events));
    expect(published).toEqual(observed);
  });

  it('cost nothing without subscribers: there is no callback and no copy', () => {
    const payload = Object.defineProperty({ ...RELEASED }, 'job', { enumerable: true, get: () => (reads += 1) });
    let reads = 0;
    const notify = notifyAll([diagnostics]);
    notify('leadershipReleased', payload);
    expect(diagnostics.leadershipReleased).toBeUndefined();
    expect(reads).toBe(0);
    const stop = listen('leadershipReleased', () => undefined);
    notify('leadershipReleased', payload);
    expect(reads).toBe(1);
    stop();
    expect(diagnostics.leadershipReleased).toBeUndefined();
  });

  it('give each subscriber its own copy of the payload', () => {
    const to = new Date('2027-01-01T00:00:00Z');
    const stop = listen('occurrencesMissed', (payload) => (payload as { to: Date }).to.setTime(0));
    notifyAll([diagnostics])('occurrencesMissed', { job: 'prices', reason: 'late', from: to, to, count: 1 });
    stop();
    expect(to.toISOString()).toBe('2027-01-01T00:00:00.000Z');
  });

  it('do not let an error of a subscriber reach the job', async () => {
    const program = ['--import', 'tsx', 'test/support/throwing-subscriber.ts', redis().url];
    const { code, output } = await attempt(process.execPath, program, { limitMs: 60_000 });
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^\{.*\}$/) });
    const { runs, otherSubscriberCalls, uncaught, ...failures } = JSON.parse(output) as Report;
    expect(runs).toBeGreaterThanOrEqual(3);
    expect(otherSubscriberCalls).toBe(runs);
    expect(uncaught).toEqual(Array.from({ length: runs }, () => 'a subscriber broke'));
    expect(failures).toEqual({ failedRuns: 0, failedObservers: 0 });
  });
});

function descriptorOf(prototype: object): PropertyDescriptor {
  return Object.getOwnPropertyDescriptor(prototype, 'tick') as PropertyDescriptor;
}
