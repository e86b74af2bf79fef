import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cron, FixedRate, Interval, type JobRun, SingletonJobModule, WhileLeader } from 'nestjs-singleton-job';

/** A line for each run that ends, and for the call that lasts while this replica leads. */
function print({ job, fencingToken, startedAt }: JobRun, endedAtMs = Date.now()): void {
  console.log(JSON.stringify({ job, fencingToken, startedAtMs: startedAt.getTime(), endedAtMs }));
}

@Injectable()
class Jobs {
  @FixedRate('200ms', { name: 'fixed-rate' })
  async atFixedRate(run: JobRun): Promise<void> {
    await run.sleep('50ms');
    print(run);
  }

  @Interval('200ms', { name: 'interval' })
  async atInterval(run: JobRun): Promise<void> {
    await run.sleep('50ms');
    print(run);
  }

  @Cron('* * * * * *', { name: 'cron' })
  async byCron(run: JobRun): Promise<void> {
    await run.sleep('50ms');
    print(run);
  }

  @WhileLeader('while-leader')
  async whileLeader(run: JobRun): Promise<void> {
    print(run, run.startedAt.getTime());
    await run.sleep('1h').catch(() => undefined);
    print(run);
  }
}

@Module({
  imports: [
    SingletonJobModule.forRoot({
      projectName: 'each-kind',
      connection: process.env['STORE_URL'] ?? '',
      lockExpiry: '3s',
      heartbeatInterval: '500ms',
    }),
  ],
  providers: [Jobs],
})
class AppModule {}

/** A replica with a job of each kind, for `hand-over.mjs`. */
async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
  app.enableShutdownHooks();
}

void main();
