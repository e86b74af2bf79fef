import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FixedRate, type JobObserver, type JobRun, SingletonJobModule, WhileLeader } from 'nestjs-singleton-job';

/** Started as a process by `crashes.spec.ts`, which crashes it by a signal. */
const { CONNECTION, NODE, IS_POISONED, PROJECT = '', THREAD = '' } = process.env;

function fail(): void {
  setImmediate(() => {
    throw new Error('thrown on purpose');
  });
}

@Injectable()
class Tick {
  /** A run is in flight nearly all the time. */
  @FixedRate('50ms', { name: 'job' })
  async tick({ signal }: JobRun): Promise<void> {
    await delay(60_000, undefined, { signal });
  }
}

@Injectable()
class Poison {
  @WhileLeader('job', { restartDelay: '300ms' })
  async consume({ signal }: JobRun): Promise<void> {
    setTimeout(fail, 20);
    await delay(60_000, undefined, { signal });
  }
}

function send(message: object): void {
  process.send?.({ ...message, atMs: Date.now(), node: NODE, pid: process.pid }, undefined, undefined, () => undefined);
}

const reporter: JobObserver = {
  onEvent: ({ event, payload }) => {
    if (event === 'runStarted' || event === 'leadershipGained') send({ event, payload });
  },
};

@Module({
  imports: [
    SingletonJobModule.forRoot({
      projectName: PROJECT,
      connection: CONNECTION,
      nodeId: NODE,
      lockExpiry: '20s',
      heartbeatThread: { workerFile: THREAD },
      observers: [reporter],
    }),
  ],
  providers: [IS_POISONED === 'true' ? Poison : Tick],
})
class AppModule {}

await NestFactory.createApplicationContext(AppModule);
process.on('SIGUSR2', fail);
process.on('SIGWINCH', () => void Promise.reject(new Error('rejected on purpose')));
process.on('SIGURG', () => process.exit(3));
process.channel?.unref();
send({ event: 'ready' });
