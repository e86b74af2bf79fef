import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import * as Sentry from '@sentry/nestjs';
import { Cron, SingletonJobModule } from 'nestjs-singleton-job';

@Injectable()
class Reports {
  runs: string[] = [];

  @Cron('* * * * * *', { name: 'outside' })
  @Sentry.SentryCron('outside')
  outside(): void {
    this.runs.push('outside');
  }

  @Sentry.SentryCron('inside')
  @Cron('* * * * * *', { name: 'inside' })
  inside(): void {
    this.runs.push('inside');
  }
}

describe('@SentryCron', () => {
  it('sends check-ins of a job, above our decorator and below it', async () => {
    const sent: string[] = [];
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
    const app = await Test.createTestingModule({
      imports: [SingletonJobModule.forRoot({ projectName: 'consumer', store: 'memory' })],
      providers: [Reports],
    }).compile();
    await app.init();
    const { runs } = app.get(Reports);
    while (new Set(runs).size < 2) await new Promise((resolve) => setTimeout(resolve, 50));
    await app.close();
    await Sentry.close();
    const slugs = sent.flatMap((text) => /"monitor_slug":"(\w+)","status":"ok"/.exec(text)?.[1] ?? []);
    expect([...new Set(slugs)].sort()).toEqual(['inside', 'outside']);
  });
});
