import { parseArgs } from 'node:util';
import { Company } from './company.js';
import { EndedEarly, ending } from './ending.js';
import { paintFor } from './paint.js';
import { withRedis } from './with-redis.js';

/**
 * `npm run demo`: three replicas of apps/worker on a real Redis; one is stopped, one is killed, and a table tells what came
 * of it. Ends with 1 if a promise was broken.
 * `-- --watch` goes on until Ctrl-C, for those who want to kill replicas themselves; `-- --verbose` shows the workers' logs.
 */
const { values: options } = parseArgs({
  options: { watch: { type: 'boolean', default: false }, verbose: { type: 'boolean', default: false } },
});

const paint = paintFor(process.stdout);
const say = (line: string): void => {
  console.log(line);
};
const { signal } = ending();

try {
  say(
    `\n ${paint('bold', 'nestjs-singleton-job')}: three replicas of an application, and each job runs on one of them.`,
  );
  const company = new Company({ ...options, paint, say });
  process.exitCode = await withRedis(
    {
      signal,
      note: (text) => {
        say(paint('dim', ` ${text}`));
      },
    },
    (place) => company.perform(place, signal),
  );
} catch (error) {
  if (!(error instanceof Error)) throw error;
  say(`\n ${paint('red', error.message)}`);
  process.exitCode = error instanceof EndedEarly ? error.exitCode : 1;
}
