import { randomUUID } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FixedRate, SingletonJobModule } from 'nestjs-singleton-job';

/** What this program prints, whose argument is the URL of a Redis: how often each party was called by the time of the third run. */
export interface Told {
  readonly runs: number;
  readonly failedRuns: number;
  readonly failedObservers: number;
  readonly heardByTheOther: number;
  readonly uncaught: readonly string[];
}

const [connection = ''] = process.argv.slice(2);
const told = { runs: 0, failedRuns: 0, failedObservers: 0, heardByTheOther: 0, uncaught: [] as string[] };

@Injectable()
class Prices {
  onThirdRun: () => void = () => undefined;
  readonly thirdRun = new Promise<void>((resolve) => {
    this.onThirdRun = resolve;
  });

  @FixedRate('20ms', { name: 'prices' })
  tick(): void {
    told.runs += 1;
    if (told.runs === 3) this.onThirdRun();
  }
}

@Module({
  imports: [
    SingletonJobModule.forRoot({
      projectName: `throwing-${randomUUID()}`,
      connection,
      observers: [{ runFailed: () => (told.failedRuns += 1), observerFailed: () => (told.failedObservers += 1) }],
    }),
  ],
  providers: [Prices],
})
class AppModule {}

process.on('uncaughtException', (error) => told.uncaught.push(error.message));
subscribe('nestjs-singleton-job:runStarted', () => {
  throw new Error('a subscriber broke');
});
subscribe('nestjs-singleton-job:runStarted', () => {
  told.heardByTheOther += 1;
});

// what is printed is the result alone
Logger.overrideLogger(false);
const app = await NestFactory.createApplicationContext(AppModule);
await app.get(Prices).thirdRun;
await app.close();
process.stdout.write(JSON.stringify(told));
