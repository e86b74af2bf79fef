// Without @nestjs/config, OpenTelemetry, Terminus and pg an application that does not use them must work.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { mkdirSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const aside = ['@nestjs/config', '@nestjs/terminus', '@opentelemetry', 'pg'].map((name) => [
  `node_modules/${name}`,
  `aside/${name.replace('/', '-')}`,
]);
mkdirSync('aside');
for (const [place, other] of aside) renameSync(place, other);
process.on('exit', () => {
  for (const [place, other] of aside) renameSync(other, place);
});
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
const { SingletonJobModule } = await import('nestjs-singleton-job');
const { NestFactory } = await import('@nestjs/core');
const onPostgres = SingletonJobModule.forRoot({ projectName: 'consumer', connection: 'postgresql://127.0.0.1:1/shop' });
class AppModule {}
const start = NestFactory.createApplicationContext(
  { module: AppModule, imports: [onPostgres] },
  { logger: false, abortOnError: false },
);
await assert.rejects(start, (error) => error.message.includes('npm install pg'));
console.log('what is not used need not be installed');
