import { inWords, record } from './workspace/counts.js';
import { runTests } from './workspace/tests.js';

/**
 * `npm test` runs the projects unit, docs, types, simulation, contract, integration and processes. `npm test -- <arguments of jest>`
 * chooses a part, such as the path of a spec or `--selectProjects faults`.
 */
const result = await runTests(process.argv.slice(2));
await record('tests', result);
console.log(inWords(result));
// a run that found no test at all has shown nothing
if (result.failed > 0 || result.passed === 0) process.exitCode = 1;
