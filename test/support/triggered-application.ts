import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { sendToParent } from './send-to-parent.js';
import { Cron, type JobObserver, type JobRun, Once, SingletonJobModule } from 'nestjs-singleton-job';

/** Started as a process by `triggers.spec.ts`. */
const { CONNECTION, NODE } = process.env;

@Injectable()
class Reports {
  #runs = 0;

  @Once('warm-up')
  warmUp(): void {}

  /** Its first run in a process fails soon, and later ones last. */
  @Cron('0 0 1 1 *', { name: 'report' })
  async report({ sleep }: JobRun): Promise<void> {
    this.#runs += 1;
    await sleep(this.#runs === 1 ? 500 : 600_000);
    throw new Error('no paper');
  }
}

const reporter: JobObserver = {
  leadershipGained: (payload) => {
    sendToParent({ event: 'leadershipGained', payload });
  },
  runStarted: (payload) => {
    sendToParent({ event: 'runStarted', payload });
  },
};

@Module({
  imports: [
    SingletonJobModule.forRoot({
      projectName: 'triggers',
      connection: CONNECTION,
      nodeId: NODE,
      lockExpiry: '4s',
      heartbeatThread: false,
      observers: [reporter],
    }),
  ],
  providers: [Reports],
})
class AppModule {}

await NestFactory.createApplicationContext(AppModule);
process.channel?.unref();
sendToParent({ event: 'ready' });
