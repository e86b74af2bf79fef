// Each entry point gives the same copy to import and to require, under its own names, and the build for CommonJS loads by itself.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { exports } = require('nestjs-singleton-job/package.json');
const EXPECTED = {
  config: 'createSingletonJobConfig',
  'current-run': 'currentRun',
  opentelemetry: 'SingletonJobOpenTelemetryModule',
  store: 'ttlOf',
  terminus: 'SingletonJobHealthIndicator',
  testing: 'ManualClock',
};

for (const [entry, name] of Object.entries(EXPECTED)) {
  const imported = await import(`nestjs-singleton-job/${entry}`);
  const required = require(`nestjs-singleton-job/${entry}`);
  assert.equal(typeof imported[name], 'function', `${entry} exports no ${name}`);
  for (const [key, value] of Object.entries(imported)) {
    assert.equal(required[key], value, `two copies of ${key}`);
    if (String(value).startsWith('class'))
      assert.equal(value.name, key, `joining the modules renamed ${key} to ${value.name}`);
  }
  const built = require(`./node_modules/nestjs-singleton-job/${exports[`./${entry}`].require.default}`);
  assert.deepEqual(Object.keys(built).sort(), Object.keys(imported).sort());
}
console.log(`entry points: ${Object.keys(EXPECTED).join(', ')}`);
