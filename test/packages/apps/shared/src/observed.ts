import 'reflect-metadata';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Module, type Type } from '@nestjs/common';
import { ConfigModule, type ConfigType } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import { HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { SingletonJobModule, type SingletonJobOptions } from 'nestjs-singleton-job';
import { singletonJobConfig } from 'nestjs-singleton-job/config';
import { SingletonJobOpenTelemetryModule } from 'nestjs-singleton-job/opentelemetry';
import { SingletonJobHealthIndicator } from 'nestjs-singleton-job/terminus';
import { FakeRun } from 'nestjs-singleton-job/testing';
import { Ticker } from './ticker.js';

/** An application with everything that watches, and its name from a variable. */
function observed(options: Partial<SingletonJobOptions>): Type {
  @Module({
    imports: [
      TerminusModule,
      SingletonJobOpenTelemetryModule,
      SingletonJobModule.forRootAsync({
        imports: [ConfigModule.forFeature(singletonJobConfig)],
        inject: [singletonJobConfig.KEY],
        useFactory: (fromVariables: ConfigType<typeof singletonJobConfig>) => ({
          ...fromVariables,
          ...options,
        }),
      }),
    ],
    providers: [Ticker, SingletonJobHealthIndicator],
  })
  class ObservedModule {}
  return ObservedModule;
}

/** What Terminus answers, and does not throw: so by HTTP it would be 200. */
async function healthOf(options: Partial<SingletonJobOptions>, isReady: (ticker: Ticker) => Promise<unknown>) {
  const app = await NestFactory.createApplicationContext(observed(options), { logger: ['warn', 'error'] });
  await isReady(app.get(Ticker));
  const indicator = app.get(SingletonJobHealthIndicator);
  const { status, details } = await app.get(HealthCheckService).check([() => indicator.isHealthy('jobs')]);
  await app.close();
  return { status, jobs: details['jobs'] };
}

/** The Terminus of Nest 11 knows up and down alone. */
const DEGRADED = {
  '11': { status: 'ok', jobs: { status: 'up', degraded: true, leaderless: ['tick'] } },
  '12': { status: 'degraded', jobs: { status: 'degraded', leaderless: ['tick'] } },
};

function majorOfTerminus(): keyof typeof DEGRADED {
  const { version } = JSON.parse(readFileSync('node_modules/@nestjs/terminus/package.json', 'utf8'));
  return version.split('.')[0];
}

process.env['SINGLETON_JOB_PROJECT_NAME'] = 'consumer';

/** Boots without an SDK, runs its job and finds itself healthy; without a store it finds itself degraded. */
async function main(): Promise<void> {
  const healthy = await healthOf({ store: 'memory' }, (ticker) => ticker.firstRun);
  assert.deepEqual(healthy, { status: 'ok', jobs: { status: 'up' } });
  // there is no server: an outage counts only after a lockExpiry
  const nowhere = { connection: 'redis://127.0.0.1:1', lockExpiry: '10m' } as const;
  const leaderless = await healthOf(nowhere, () => Promise.resolve());
  assert.deepEqual(leaderless, DEGRADED[majorOfTerminus()]);
  const { job } = new FakeRun({ job: 'fake' });
  console.log(`${job} and real: ${healthy.status}, then ${leaderless.status}`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
