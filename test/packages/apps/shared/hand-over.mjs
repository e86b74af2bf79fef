// Three processes, one after another: the first is stopped and the second is killed. Each time the next one goes on with a job of each kind.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const JOBS = ['fixed-rate', 'interval', 'cron', 'while-leader'];
/** How long a job may take to go on, on a busy machine too. */
const LIMIT_MS = 60_000;

/** A process, with the runs that it printed. */
function start() {
  const runs = [];
  const child = spawn(process.execPath, ['dist/each-kind.js'], { stdio: ['ignore', 'pipe', 'inherit'] });
  createInterface({ input: child.stdout }).on('line', (line) => runs.push(JSON.parse(line)));
  process.on('exit', () => child.kill('SIGKILL'));
  return { child, runs };
}

async function end({ child }, signal) {
  child.kill(signal);
  const [code] = await once(child, 'close');
  return { code, atMs: Date.now() };
}

async function untilItRunsEachJob({ child, runs }) {
  const giveUpAtMs = Date.now() + LIMIT_MS;
  for (;;) {
    const missing = JOBS.filter((name) => !runs.some(({ job }) => job === name));
    if (missing.length === 0) return;
    assert.ok(child.exitCode === null && Date.now() < giveUpAtMs, `it does not run ${missing.join(', ')}`);
    await delay(20);
  }
}

const first = start();
await untilItRunsEachJob(first);
const second = start();
await delay(2_000);
assert.deepEqual(second.runs, [], 'the follower runs nothing');

const stopping = Date.now();
const stopped = await end(first, 'SIGTERM');
assert.ok(stopped.code === 0 || stopped.code === null, `the stopped process exits with ${stopped.code}`);
await untilItRunsEachJob(second);
const handedOverMs = Math.min(...second.runs.map(({ startedAtMs }) => startedAtMs)) - stopping;

const third = start();
await delay(2_000);
assert.deepEqual(third.runs, [], 'the follower runs nothing');
const killed = await end(second, 'SIGKILL');
await untilItRunsEachJob(third);
const takenOverMs = Math.min(...third.runs.map(({ startedAtMs }) => startedAtMs)) - killed.atMs;
await end(third, 'SIGTERM');

for (const name of JOBS) {
  const runs = [first, second, third].flatMap((replica) => replica.runs.filter(({ job }) => job === name));
  const ordered = runs.toSorted((a, b) => a.startedAtMs - b.startedAtMs || a.endedAtMs - b.endedAtMs);
  for (const [index, run] of ordered.slice(1).entries()) {
    const before = ordered[index];
    const isSame = name === 'while-leader' && before.startedAtMs === run.startedAtMs;
    assert.ok(isSame || before.endedAtMs <= run.startedAtMs, `two runs of ${name} overlap`);
    assert.ok(before.fencingToken <= run.fencingToken, `a fencing token of ${name} became smaller`);
  }
  const tokens = [first, second, third].map((replica) => replica.runs.find(({ job }) => job === name).fencingToken);
  assert.ok(tokens[0] < tokens[1] && tokens[1] < tokens[2], `the tokens of ${name} are ${tokens.join(', ')}`);
}
const installed = ['@nestjs/core', 'ioredis', 'pg', 'mysql2'].flatMap((name) => {
  const manifest = `node_modules/${name}/package.json`;
  return existsSync(manifest) ? [`${name} ${JSON.parse(readFileSync(manifest, 'utf8')).version}`] : [];
});
const runtime = process.versions.bun === undefined ? `Node ${process.version}` : `Bun ${process.versions.bun}`;
const times = `handed over in ${handedOverMs} ms, taken over from a killed process in ${takenOverMs} ms`;
console.log(`${[runtime, ...installed].join(', ')}: a job of each kind is ${times}`);
