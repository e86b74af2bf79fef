import { type Paint } from './paint.js';
import { type JobScore } from './scoreboard.js';
import { table } from './table.js';

/** What the demo prints last: the table, and what to think of it. */
export function verdict(scores: readonly JobScore[], faults: readonly string[], paint: Paint): string[] {
  const judgement =
    faults.length === 0
      ? [paint('green', 'No two runs of a job overlapped.')]
      : [paint('red', 'Something went wrong:'), ...faults.map((fault) => paint('red', `- ${fault}`))];
  const how =
    'Hand-over: the slowest time from the end of the last run (SIGTERM) or of the process (SIGKILL) to the next leader.';
  return ['', ...table(scores, paint), '', ` ${paint('dim', how)}`, '', ...judgement.map((line) => ` ${line}`), ''];
}
