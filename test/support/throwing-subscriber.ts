import { randomUUID } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FixedRate, SingletonJobModule } from 'nestjs-singleton-job';

/** What this program prints, whose argument is the URL of a Redis: how often each party was called by the time of the third run. */
export interface Report {
  readonly runs: number;
  readonly failedRuns: number;
  readonly failedObservers: number;
  readonly otherSubscriberCalls: number;
  readonly uncaught: readonly string[];
}

const [connection = ''] = process.argv.slice(2);
const report = { runs: 0, failedRuns: 0, failedObservers: 0, otherSubscriberCalls: 0, uncaught: [] as string[] };

@Injectable()
class Prices {
  onThirdRun: () => void = () => undefined;
  readonly thirdRun = new Promise<void>((resolve) => {
    this.onThirdRun = resolve;
  });

  @FixedRate('20ms', { name: 'prices' })
  tick(): void {
    report.runs += 1;
    if (report.runs === 3) this.onThirdRun();
  }
}

@Module({
  imports: [
    SingletonJobModule.forRoot({
      projectName: `throwing-${randomUUID()}`,
      connection,
      observers: [{ runFailed: () => (report.failedRuns += 1), observerFailed: () => (report.failedObservers += 1) }],
    }),
  ],
  providers: [Prices],
})
class AppModule {}

process.on('uncaughtException', (error) => report.uncaught.push(error.message));
subscribe('nestjs-singleton-job:runStarted', () => {
  throw new Error('a subscriber broke');
});
subscribe('nestjs-singleton-job:runStarted', () => {
  report.otherSubscriberCalls += 1;
});

// what is printed is the result alone
Logger.overrideLogger(false);
const app = await NestFactory.createApplicationContext(AppModule);
await app.get(Prices).thirdRun;
await app.close();
process.stdout.write(JSON.stringify(report));
