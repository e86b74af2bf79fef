// Two copies of the package in one application, as when two dependencies pin two versions: here the two builds of one.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import * as ours from 'nestjs-singleton-job';

const require = createRequire(import.meta.url);
const copy = require('./node_modules/nestjs-singleton-job/dist/cjs/index.js');
assert.notEqual(copy.SingletonJobModule, ours.SingletonJobModule, 'there is no second copy');

/** A provider whose method `tick` bears these decorators. */
function jobWith(...decorators) {
  class Prices {
    firstRun = new Promise((resolve) => {
      this.tick = resolve;
    });

    tick() {}
  }
  for (const decorate of decorators) {
    decorate(Prices.prototype, 'tick', Object.getOwnPropertyDescriptor(Prices.prototype, 'tick'));
  }
  return Prices;
}

function start(imports, providers = []) {
  class AppModule {}
  Module({ imports, providers })(AppModule);
  return NestFactory.createApplicationContext(AppModule, { logger: ['error'], abortOnError: false });
}

const moduleOf = ({ SingletonJobModule }) => SingletonJobModule.forRoot({ projectName: 'consumer', store: 'memory' });

const Prices = jobWith(copy.Interval('1h', { name: 'of-the-copy' }));
const app = await start([moduleOf(ours)], [Prices]);
const run = await app.get(Prices).firstRun;
assert.equal(run.job, 'of-the-copy');
await app.close();
console.log('a job that a second copy decorates runs');

await assert.rejects(
  start([moduleOf(ours)], [jobWith(ours.FixedRate('1s'), copy.Interval('1s'))]),
  /Prices\.tick: must have a name for each of its schedules, got @FixedRate and @Interval/,
);
console.log('a method that both copies decorate is refused');

await assert.rejects(
  start([moduleOf(ours), moduleOf(copy)]),
  /SingletonJobModule must be imported once, got it in AppModule with/,
);
console.log('the modules of two copies are refused');
