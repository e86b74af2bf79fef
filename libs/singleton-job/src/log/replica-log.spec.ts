import { describe, expect, it } from '@jest/globals';
import { interval } from '../schedule/interval.js';
import { whileLeader } from '../schedule/while-leader.js';
import { settle } from '../testing/manual-clock.js';
import { job, lasting } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { type LogSink } from './operator-log.js';

/** The lines of one replica about whom it follows and what its stop waits for. */
function statusLines(): { readonly log: LogSink; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const write = (level: string) => (message: string) => {
    if (/follows|stop:|pause/.test(message)) lines.push(`${level} ${message}`);
  };
  const log = { error: write('error'), warn: write('warn'), log: write('log'), debug: write('debug') };
  return { log, lines };
}

describe('The log of a replica', () => {
  const replicas = useReplicas();
  const once = interval(3_600_000);
  const abc = () => ['a', 'b', 'c'].map((name) => job({ name, schedule: once }));

  it('says once which replica it follows, and at debug level when another one leads', async () => {
    const [first, second, third] = [statusLines(), statusLines(), statusLines()];
    const a = replicas.start('a', abc(), first);
    await replicas.clock.advance(10);
    replicas.start('b', abc(), second);
    replicas.start('c', abc(), third);
    await replicas.clock.advance(60_000);
    const line = 'log [test] follows a for 3 jobs (a, b, c); takes over when its lease ends';
    expect([first.lines, second.lines, third.lines]).toEqual([[], [line], [line]]);

    await a.registry.stepDown('a');
    await replicas.clock.advance(60_000);
    expect(second.lines).toHaveLength(1);
    expect(third.lines).toEqual([line, 'debug [test] follows b for 1 job (a); takes over when its lease ends']);
    // it stops, and follows nobody any more
    await a.pool.stop();
    await settle();
    expect(first.lines).toEqual(['log [test] follows b for 1 job (a); takes over when its lease ends']);
  });

  it('says once on each replica which jobs are paused on all replicas, and when that ends', async () => {
    const [first, second] = [statusLines(), statusLines()];
    const a = replicas.start('a', abc(), first);
    await replicas.clock.advance(10);
    for (const name of ['a', 'b']) await a.registry.pause(name);
    await replicas.clock.advance(10);
    replicas.start('b', abc(), second);
    await replicas.clock.advance(60_000);
    const since = '2027-01-01T00:00:00.010Z';
    const paused = `log [test] paused on all replicas: 2 jobs (a since ${since}, b since ${since}); start one with resume()`;
    const lines = () => [first, second].map((each) => each.lines.filter((line) => line.includes('on all replicas')));
    expect(lines()).toEqual([[paused], [paused]]);
    void a.registry.resume('b');
    await replicas.clock.advance(60_000);
    const resumed = 'log [test] no longer paused on all replicas: 1 job (b)';
    expect(lines()).toEqual([
      [paused, resumed],
      [paused, resumed],
    ]);
  });

  it('warns once when a pause was lost with the data of the store, and not after a resume', async () => {
    const { log, lines } = statusLines();
    const a = replicas.start('a', [job({ schedule: once })], { log });
    await replicas.clock.advance(10);
    await a.registry.pause('tick');
    await replicas.clock.advance(10);
    void a.registry.resume('tick');
    await replicas.clock.advance(60_000);
    await a.registry.pause('tick');
    await replicas.clock.advance(10_000);
    replicas.server.loseData();
    await replicas.clock.advance(300_000);
    expect(lines.filter((line) => /no longer|^warn/.test(line))).toEqual([
      'log [test] no longer paused on all replicas: 1 job (tick)',
      'warn [test:tick] the pause since 2027-01-01T00:01:00.020Z was lost with the data of memory; the job runs again. ' +
        "Call pause('tick') again if it must not",
    ]);
    expect(a.observer.of('jobResumed').map(({ reason }) => reason)).toEqual(['resumed', 'data-lost']);
  });

  it('says a second after the start of a stop for which runs it waits, and nothing if there are none', async () => {
    const { log, lines } = statusLines();
    const a = replicas.start(
      'a',
      [
        job({ name: 'idle', schedule: once }),
        job({ name: 'price-tick', schedule: once, run: lasting(replicas.clock, 5_000) }),
        job({ name: 'sync', schedule: once, initialDelayMs: 1_000, run: lasting(replicas.clock, 5_000) }),
        // its signal fires at once
        job({ name: 'feed', schedule: whileLeader(1_000), run: lasting(replicas.clock, 60_000, { obedient: true }) }),
        job({ name: 'stubborn', schedule: whileLeader(1_000), run: lasting(replicas.clock, 6_000) }),
      ],
      { log },
    );
    await replicas.clock.advance(3_200);
    void a.pool.stop();
    await replicas.clock.advance(5_000);
    expect(lines).toEqual([
      'log [test:price-tick] delays the stop: its run has taken 4.2 s so far, and is aborted in 5.0 s',
      'log [test:sync] delays the stop: its run has taken 3.2 s so far, and is aborted in 5.0 s',
      'log [test:stubborn] delays the stop: its run has taken 4.2 s so far, and goes on although its signal was aborted',
    ]);
    const idle = statusLines();
    await replicas.start('b', [], idle).pool.stop();
    expect(idle.lines).toEqual([]);
  });
});
