import { stepWallClock } from './wall-clock.js';
import 'reflect-metadata';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SingletonJobModule } from '../../../libs/singleton-job/src/index.js';
import { Jobs } from './jobs.js';
import { readOrder, type ReplicaCommand } from './order.js';
import { report } from './report.js';
import { tell } from './tell.js';

const order = readOrder();
stepWallClock(order.wallAheadMs);

@Module({ providers: [Jobs] })
class JobsModule {}

@Module({
  imports: [
    JobsModule,
    SingletonJobModule.forRoot({
      projectName: order.project,
      nodeId: order.name,
      connection: order.redisUrl,
      heartbeatInterval: order.heartbeatIntervalMs,
      lockExpiry: order.lockExpiryMs,
      shutdownTimeout: order.shutdownTimeoutMs,
      maxBackoffDelay: order.lockExpiryMs,
      observers: [report],
    }),
  ],
})
class AppModule {}

process.on('message', (command: ReplicaCommand) => {
  switch (command.command) {
    case 'step':
      stepWallClock(command.byMs);
      tell('stepped', { byMs: command.byMs });
      return;
    case 'block': {
      tell('blocked');
      const until = performance.now() + command.forMs;
      while (performance.now() < until);
      tell('unblocked');
    }
  }
});
// nothing is to be learned from a replica whose test is gone
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// by itself the channel would keep a stopped application alive
process.channel?.unref();

Logger.overrideLogger(['error', 'fatal']);
const app = await NestFactory.createApplicationContext(AppModule);
app.enableShutdownHooks();
tell('ready');
