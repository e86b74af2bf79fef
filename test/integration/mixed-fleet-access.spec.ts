import { Injectable, Module } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { FixedRate, type JobEvents, type JobObserver, SingletonJobModule } from 'nestjs-singleton-job';
import { LATE } from '../support/busy-machine.js';
import { startApplication } from '../support/nest-application.js';
import { PROJECT } from '../support/original-mixed-fleet.js';
import { until } from '../support/until.js';
import { LOCK, PATIENT, useMixedFleets } from '../support/use-mixed-fleets.js';

describe('In a mixed fleet a Redis user of ours', () => {
  const { redis, url } = useMixedFleets();
  const KEYS = `~${PROJECT}:*`;
  const STATES = `~{${PROJECT}:*`;
  const CHANNEL = `&${PROJECT}:released`;

  const start = async (name: string, ...rules: string[]) => {
    await redis().call('ACL', 'SETUSER', name, 'on', '>secret', 'resetkeys', 'resetchannels', '+@all', ...rules);
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
          connection: url().replace('//', `//${name}:secret@`),
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
    expect(await redis().exists(LOCK)).toBe(0);
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
    expect(await redis().keys('*')).toEqual([]);
  });

  it('without the channel leads all the same, and says what was refused', async () => {
    const { app, jobs, words } = await start('mute', KEYS, STATES);
    await until('the job runs', () => jobs.runs > 2);
    await until('it says so', () => words().includes('NOPERM'));
    expect(words()).toContain(`'${PROJECT}:released'`);
    await app.close();
    expect(await redis().exists(LOCK)).toBe(0);
  });
});
