import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { buildReplica } from './faults/build-replica.js';
import { FAULTS } from './faults/faults/index.js';
import { brokenRow, type Row, rowOf } from './faults/row.js';
import { sideBySide } from './faults/side-by-side.js';
import { inWords, play } from './faults/story.js';
import { markdownTable, plainTable } from './faults/table.js';

/**
 * `npm run test:faults`: every fault, several times, against real processes and a real Redis; then the table. Ends with 1 if a
 * promise broke. `--times 3 --seed 1 --width 3 --only <text> --markdown <file>`.
 */
const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    /** How many fleets at a time: they mostly wait. */
    width: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    markdown: { type: 'string' },
  },
});
const [times, seed, width] = [Number(values.times), Number(values.seed), Number(values.width)];
const faults = FAULTS.filter(({ name }) => name.includes(values.only));
const main = await buildReplica();
const rows = new Map<string, Row>();
await sideBySide(faults, width, async (fault) => {
  const acts = Array.from({ length: times }, () => ({ faults: [fault], pauseMs: 300 }));
  try {
    const story = await play(acts, { main, seed });
    rows.set(fault.name, rowOf(fault.name, story));
    for (const violation of story.violations) console.log(`seed ${String(seed)}, ${inWords(violation)}`);
    for (const other of [...story.unexpected, ...story.tooSlow]) console.log(`seed ${String(seed)}, ${other}`);
  } catch (error: unknown) {
    rows.set(fault.name, brokenRow(fault.name));
    console.log(`${fault.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  console.log(`${String(rows.size).padStart(2)}/${String(faults.length)} ${fault.name}`);
});
const table = faults.flatMap(({ name }) => rows.get(name) ?? []);
console.log(`\n${plainTable(table)}`);
if (values.markdown !== undefined) await writeFile(values.markdown, `${markdownTable(table)}\n`);
if (table.length === 0 || table.some(({ isBroken }) => isBroken)) process.exitCode = 1;
