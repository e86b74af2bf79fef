import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { SingletonJobModule } from 'nestjs-singleton-job';
import {
  OpenTelemetryInterceptor,
  OpenTelemetryObserver,
  SingletonJobOpenTelemetryModule,
} from 'nestjs-singleton-job/opentelemetry';
import { SingletonJobHealthIndicator } from 'nestjs-singleton-job/terminus';
import { FakeRun } from 'nestjs-singleton-job/testing';
import { Ticker } from './ticker.js';

@Module({
  imports: [
    TerminusModule,
    SingletonJobOpenTelemetryModule,
    SingletonJobModule.forRoot({
      projectName: 'consumer',
      store: 'memory',
      observers: [OpenTelemetryObserver],
      interceptors: [OpenTelemetryInterceptor],
    }),
  ],
  providers: [Ticker, SingletonJobHealthIndicator],
})
class ObservedModule {}

/** Boots with everything that watches, without an SDK, runs its job and finds itself healthy. */
async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(ObservedModule, { logger: ['warn', 'error'] });
  await app.get(Ticker).firstRun;
  const indicator = app.get(SingletonJobHealthIndicator);
  const { status } = await app.get(HealthCheckService).check([() => indicator.isHealthy('jobs')]);
  await app.close();
  const { job } = new FakeRun({ job: 'fake' });
  console.log(`${job} and real: ${status}`);
  if (status !== 'ok') process.exitCode = 1;
}

void main();
