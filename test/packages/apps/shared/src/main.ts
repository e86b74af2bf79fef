import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { Ticker } from './ticker.js';

/** Boots, waits for one run, prints what it was given, and is expected to end by itself. */
async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['warn', 'error'] });
  const { job, kind, cause, scheduledAt, startedAt, fencingToken, signal } = await app.get(Ticker).firstRun;
  const aborted = signal.aborted;
  await app.close();
  console.log(JSON.stringify({ job, kind, cause, scheduledAt, startedAt, fencingToken, aborted }));
}

void main();
