import { parseArgs } from 'node:util';
import { buildReplica } from './faults/build-replica.js';
import { schedule } from './faults/schedule.js';
import { type Act, inWords, namesOf, play } from './faults/story.js';

/**
 * `npm run test:soak -- --minutes 10 --seed 7`: one fleet and whatever the seed draws, until the time is over; then the check.
 * The same seed draws the same faults in the same order, and what each of them draws. Ends with 1 if a promise broke.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
console.log(`seed ${String(seed)}, ${String(minutes)} minutes`);
const startedAt = performance.now();
try {
  const main = await buildReplica();
  const { episodes, runs, violations, unexpected, tooSlow } = await play(untilTimeIsOver(), { main, seed, onAct: say });
  for (const violation of violations) console.log(inWords(violation));
  for (const other of [...unexpected, ...tooSlow]) console.log(other);
  const worstMs = Math.max(0, ...episodes.map(({ leaderlessMs }) => leaderlessMs));
  const broken = violations.length + unexpected.length + tooSlow.length;
  console.log(
    `seed ${String(seed)}: ${String(episodes.length)} acts, ${String(runs)} runs, ` +
      `${(worstMs / 1_000).toFixed(2)} s without a leader at worst, ${String(broken)} promises broken`,
  );
  if (broken > 0 || episodes.length === 0) process.exitCode = 1;
} catch (error: unknown) {
  console.log(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function* untilTimeIsOver(): Generator<Act> {
  for (const act of schedule(seed)) {
    if (performance.now() > startedAt + minutes * 60_000) return;
    yield act;
  }
}

function say({ faults }: Act): void {
  const seconds = (performance.now() - startedAt) / 1_000;
  console.log(`${seconds.toFixed(0).padStart(5)} s  ${namesOf(faults)}`);
}
