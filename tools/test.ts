import { inWords, record } from './workspace/counts.js';
import { runTests } from './workspace/tests.js';

/** `npm test`: everything but the proof. `npm test -- <arguments of jest>`: a part, such as the path of a spec. */
const result = await runTests(process.argv.slice(2));
await record('tests', result);
console.log(inWords(result));
// a run that found no test at all has shown nothing
if (result.failed > 0 || result.passed === 0) process.exitCode = 1;
