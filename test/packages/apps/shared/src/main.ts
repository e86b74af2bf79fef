import 'reflect-metadata';
import { deepStrictEqual, ok } from 'node:assert';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { Ticker } from './ticker.js';

/** Boots, waits for one run, checks what it was given, and is expected to end by itself. */
async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['warn', 'error'] });
  const { job, kind, cause, scheduledAt, startedAt, fencingToken, signal } = await app.get(Ticker).firstRun;
  deepStrictEqual([job, kind, cause, signal.aborted], ['tick', 'fixed-rate', 'schedule', false]);
  ok(fencingToken > 0);
  ok(scheduledAt.getTime() % 50 === 0 && scheduledAt <= startedAt, 'it is not on its grid');
  await app.close();
  console.log('ran its job');
}

void main();
