import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type Start } from './contestant.js';

@Module({})
class BareModule {}

/** A Nest application context with nothing in it. */
export const start: Start = async () => {
  const app = await NestFactory.createApplicationContext(BareModule);
  app.enableShutdownHooks();
  setInterval(() => undefined, 60_000);
};
