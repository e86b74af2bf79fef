import 'reflect-metadata';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LockService, SingletonJobModule } from 'nestjs-singleton-job';

/** An application that holds a lock, waits for another, closes, and has nothing that would keep its process alive. */
const [connection = ''] = process.argv.slice(2);

@Module({ imports: [SingletonJobModule.forRoot({ projectName: 'exits', connection, enabled: false })] })
class AppModule {}

Logger.overrideLogger(false);
const app = await NestFactory.createApplicationContext(AppModule);
const locks = app.get(LockService);
const held = await locks.tryAcquire('held');
const waiting = locks.tryAcquire('held', { wait: '5m' }).then(() => 'granted', String);
await app.close();
process.stdout.write(`${String(held?.isHeld())}, ${await waiting}\n`);
