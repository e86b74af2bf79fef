import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { setTimeout as delay } from 'node:timers/promises';
import { sendToParent } from './send-to-parent.js';
import { FixedRate, type JobObserver, type JobRun, SingletonJobModule } from 'nestjs-singleton-job';

/** Started as a process by `crashes.spec.ts`, which crashes it by a signal. */
const { CONNECTION, NODE, THREAD = '' } = process.env;

@Injectable()
class Tick {
  /** A run is in flight nearly all the time. */
  @FixedRate('50ms', { name: 'job' })
  async tick({ signal }: JobRun): Promise<void> {
    await delay(60_000, undefined, { signal });
  }
}

const reporter: JobObserver = {
  runStarted: (payload) => {
    sendToParent({ event: 'runStarted', payload });
  },
};

@Module({
  imports: [
    SingletonJobModule.forRoot({
      projectName: 'crashes',
      connection: CONNECTION,
      nodeId: NODE,
      lockExpiry: '20s',
      heartbeatThread: { workerFile: THREAD },
      observers: [reporter],
    }),
  ],
  providers: [Tick],
})
class AppModule {}

await NestFactory.createApplicationContext(AppModule);
process.on('SIGUSR2', () => {
  throw new Error('thrown on purpose');
});
process.on('SIGWINCH', () => void Promise.reject(new Error('rejected on purpose')));
process.on('SIGURG', () => process.exit(3));
process.channel?.unref();
sendToParent({ event: 'ready' });
