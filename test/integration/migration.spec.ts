import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { problemsOf, startDisabled } from '../support/nest-application.js';
import { TasksService } from './migration-samples/after.js';
import { Cron } from 'nestjs-singleton-job';

// what it refuses is in bad-decorators.spec.ts, and the lines about forgotten imports are in discovery.spec.ts
const SAMPLES = join(import.meta.dirname, 'migration-samples');
const read = (name: string): string => readFileSync(join(SAMPLES, name), 'utf8');

describe('a class for @nestjs/schedule with another import', () => {
  it('needs no other change but of two options, which start-up names', () => {
    const after = read('before.ts')
      .replace("'@nestjs/schedule'", "'nestjs-singleton-job'")
      .replace(', waitForCompletion: true', '')
      .replace('disabled: true', 'enabled: false');
    expect(read('after.ts')).toBe(after);
  });

  it('keeps names, expressions and zones, and uses UTC without a zone', async () => {
    await using started = await startDisabled({ providers: [TasksService] });

    expect(started.jobs().map(({ name, schedule }) => `${name}: ${schedule.description}`)).toEqual([
      'TasksService.everyTenSeconds: cron */10 * * * * * UTC',
      'nightly: cron 0 30 3 * * * Europe/Berlin',
      'report: cron */5 * * * * * UTC',
      'off: cron * * * * * * UTC',
      'delayed: cron * * * * * * UTC',
      'poll: interval 2000ms',
      'TasksService.sweep: interval 4000ms',
    ]);
  });
});

describe('the page about moving', () => {
  it('shows the error of the library', async () => {
    const options = { utcOffset: 8 } as object;
    class Reports {
      @Cron('0 3 * * *', options)
      slow(): void {}
    }
    const page = readFileSync(join(import.meta.dirname, '../../docs/migrating/from-nestjs-schedule.md'), 'utf8');
    const shown = [...page.matchAll(/^ {2}- (.+)$/gm)].map(([, problem]) => problem);

    expect(shown).toEqual(await problemsOf(startDisabled({ providers: [Reports] })));
  });
});
