import { ConsoleLogger, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FixedRate, type JobObserver, SingletonJobModule } from 'nestjs-singleton-job';
import {
  BLOCKED_MS,
  explode,
  type JobProcessMessage,
  type JobFault,
  LOCK_EXPIRY_MS,
  LONG_LOCK_EXPIRY_MS,
  SHUTDOWN_TIMEOUT_MS,
  THROWN,
} from './job-faults.js';

const { JOB_FAULT, REDIS_URL, NODE_ID } = process.env;
let runs = 0;
let mayBlock = false;
let close: () => Promise<void> = () => Promise.resolve();

const WAYS: Readonly<Record<JobFault, () => unknown>> = {
  blocks: () => {
    if (!mayBlock) return;
    mayBlock = false;
    const until = performance.now() + BLOCKED_MS;
    while (performance.now() < until);
  },
  throws: async () => {
    const thrown = THROWN[(runs - 1) % THROWN.length]?.();
    if (runs % 2 === 0) await Promise.resolve();
    throw thrown as Error;
  },
  'never-ends': () => new Promise(() => undefined),
  closes: () => close(),
  observers: () => undefined,
};

@Injectable()
class Jobs {
  @FixedRate('100ms', { name: 'faulty' })
  faulty(): unknown {
    runs += 1;
    return WAYS[JOB_FAULT as JobFault]();
  }

  @FixedRate('100ms', { name: 'harmless' })
  harmless(): void {
    // reports that it runs
  }
}

/** Sends each event to the parent. */
const reporter: JobObserver = {
  onEvent: ({ event, payload }) => {
    // the error may not be JSON
    const plain: JobProcessMessage['payload'] = Object.fromEntries(
      Object.entries(payload).filter(([key]) => key !== 'error'),
    );
    send({ event, payload: plain, atMs: Date.now() });
  },
};

/** At every event one of them throws and the other rejects. */
const FAILING_OBSERVERS: readonly JobObserver[] = [
  new Proxy({}, { get: () => explode }),
  new Proxy({}, { get: () => () => Promise.reject(new Error('failed on purpose')) }),
];

function send(message: JobProcessMessage): void {
  process.send?.(message, undefined, undefined, () => undefined);
}

@Module({
  imports: [
    SingletonJobModule.forRoot({
      projectName: 'faults',
      connection: REDIS_URL,
      nodeId: NODE_ID,
      heartbeatInterval: '200ms',
      lockExpiry: JOB_FAULT === 'never-ends' ? LONG_LOCK_EXPIRY_MS : LOCK_EXPIRY_MS,
      shutdownTimeout: SHUTDOWN_TIMEOUT_MS,
      observers: [...(JOB_FAULT === 'observers' ? FAILING_OBSERVERS : []), reporter],
    }),
  ],
  providers: [Jobs],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(
  AppModule,
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest has a class for these, and takes any object
  { logger: new ConsoleLogger({ colors: false, logLevels: ['log', 'warn', 'error'] }) },
);
close = () => app.close();
app.enableShutdownHooks();
process.once('message', () => {
  mayBlock = true;
});
// the channel must not keep the process alive
process.channel?.unref();
send({ event: 'ready', atMs: Date.now() });
