import { describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import * as Sentry from '@sentry/node';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../tools/replicas/until.js';
import { startRunning } from '../support/nest-application.js';
import { sentryErrors } from './sentry-errors.js';
import { FixedRate } from 'nestjs-singleton-job';

@Injectable()
class Broken {
  @FixedRate('50ms', { name: 'broken' })
  run(): void {
    throw new Error('no prices today');
  }
}

describe('The interceptor for Sentry', () => {
  it('is the one of the recipes', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/recipes.md'), 'utf8');
    expect(page).toContain(readFileSync(join(import.meta.dirname, 'sentry-errors.ts'), 'utf8'));
  });

  it('sends the error of a job, with the job as a tag', async () => {
    const sent: string[] = [];
    // it says that it cannot instrument modules under Jest
    jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    Sentry.init({
      dsn: 'https://public@127.0.0.1/1',
      defaultIntegrations: false,
      transport: () => ({
        send: (envelope) => {
          sent.push(JSON.stringify(envelope));
          return Promise.resolve({});
        },
        flush: () => Promise.resolve(true),
      }),
    });
    await using application = await startRunning({ providers: [Broken] }, { interceptors: [sentryErrors] });
    expect(application.app).toBeDefined();
    await until('an error is sent', () => sent.length > 0);
    await Sentry.close();
    expect(sent[0]).toContain('"value":"no prices today"');
    expect(sent[0]).toContain('"tags":{"job":"broken"}');
  });
});
