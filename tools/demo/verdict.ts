import { type Paint } from './paint.js';
import { type JobScore } from './scoreboard.js';
import { table } from './table.js';

const KEPT = [
  'One leader per job at a time, no two runs of a job at once, no occurrence run twice, fencing tokens only grow,',
  'each new leader went on with its jobs, in milliseconds after a stop, and after a kill as soon as the locks expired.',
];

/** What the demo prints last: the table, and what to think of it. */
export function verdict(scores: readonly JobScore[], faults: readonly string[], paint: Paint): string[] {
  const judgement =
    faults.length === 0
      ? [paint('green', 'Every promise was kept.'), ...KEPT.map((line) => paint('dim', line))]
      : [paint('red', 'A promise was broken:'), ...faults.map((fault) => paint('red', `- ${fault}`))];
  const how =
    'Hand-over: the slowest time from the end of the last run (SIGTERM) or of the process (SIGKILL) to the next leader.';
  return ['', ...table(scores, paint), '', ` ${paint('dim', how)}`, '', ...judgement.map((line) => ` ${line}`), ''];
}
