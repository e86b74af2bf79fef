// The installed library finds the program of its heartbeat thread in both builds, and the thread does not keep the process alive.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

const require = createRequire(import.meta.url);
const builds = {
  imported: await import('nestjs-singleton-job'),
  'for CommonJS': require('./node_modules/nestjs-singleton-job/dist/cjs/index.js'),
};

function start({ SingletonJobModule }, heartbeatThread) {
  class AppModule {}
  // nothing answers there: start-up waits for the thread, not for Redis
  const options = { projectName: 'consumer', connection: 'redis://127.0.0.1:1', heartbeatThread };
  Module({ imports: [SingletonJobModule.forRoot(options)] })(AppModule);
  return NestFactory.createApplicationContext(AppModule, { logger: ['error'], abortOnError: false });
}

for (const [name, build] of Object.entries(builds)) {
  const app = await start(build, true);
  await app.close();
  await assert.rejects(start(build, { workerFile: './no-such-file.js' }), { code: 'INVALID_OPTIONS' }, name);
  // not closed: the process ends all the same
  await start(build, { workerFile: require.resolve('nestjs-singleton-job/heartbeat-thread') });
}
console.log(`heartbeat thread: ${Object.keys(builds).join(', ')}`);
