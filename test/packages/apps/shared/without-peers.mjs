// @nestjs/config, OpenTelemetry and Terminus are not installed here: an application without their entry points must work.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
for (const name of ['nestjs-singleton-job', 'nestjs-singleton-job/testing']) {
  assert.ok(Object.keys(await import(name)).length > 0, name);
  assert.ok(Object.keys(require(name)).length > 0, name);
}
for (const [entry, peer] of [
  ['config', '@nestjs/config'],
  ['opentelemetry', '@opentelemetry/api'],
  ['terminus', '@nestjs/terminus'],
]) {
  await assert.rejects(import(`nestjs-singleton-job/${entry}`), (error) => error.message.includes(peer));
}
console.log('what is not used need not be installed');
