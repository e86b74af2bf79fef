import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Measurement, type Options } from './measurement.js';
import { commands } from './measurements/commands.js';
import { deleteKeys } from './measurements/delete.js';
import { herd } from './measurements/herd.js';
import { kill } from './measurements/kill.js';
import { snapshot } from './measurements/snapshot.js';
import { stalls } from './measurements/stalls.js';
import { suspend } from './measurements/suspend.js';

const MEASUREMENTS: Readonly<Record<string, Measurement>> = {
  kill,
  commands,
  herd,
  stalls,
  snapshot,
  suspend,
  delete: deleteKeys,
};

// 'exit' listeners end the replicas, and a guard process ends Redis.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string' },
    replicas: { type: 'string' },
    'per-process': { type: 'string' },
    kills: { type: 'string' },
    times: { type: 'string' },
    seconds: { type: 'string' },
    settle: { type: 'string' },
    'lock-expiry': { type: 'string' },
    heartbeat: { type: 'string' },
  },
});
const [name = '', argument] = positionals;
const measure = MEASUREMENTS[name];
if (measure === undefined) throw new Error(`name a measurement: ${Object.keys(MEASUREMENTS).join(', ')}`);

const given = {
  jobs: countOf(values.jobs),
  replicas: countOf(values.replicas),
  perProcess: countOf(values['per-process']),
  times: countOf(values.kills ?? values.times),
  seconds: countOf(values.seconds),
  settle: countOf(values.settle),
  lockExpiry: values['lock-expiry'],
  heartbeat: values.heartbeat,
};
const options: Options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
const library = readFileSync(join(import.meta.dirname, 'node_modules/nestjs-singleton-job/COMMIT'), 'utf8');
const row = { ...(await measure(options, argument)), library };

const line = (cells: readonly unknown[]): string => `| ${cells.join(' | ')} |`;
console.log(line(['measurement', ...Object.keys(row)]));
console.log(line(['measurement', ...Object.keys(row)].map(() => '---')));
console.log(line([process.argv.slice(2).join(' '), ...Object.values(row)]));
console.log(JSON.stringify({ measurement: name, argument, options, ...row }));
process.exit();

function countOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!(count > 0)) throw new Error(`expected a number above 0, got ${text}`);
  return count;
}
