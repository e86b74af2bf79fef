import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JOB_EVENTS } from 'nestjs-singleton-job';
import { attempt } from '../../tools/workspace/command.js';
import { ROOT } from '../../tools/workspace/paths.js';

it('every public name has a docstring, and what `npm run api` writes is up to date', async () => {
  const { output } = await attempt(process.execPath, ['--import', 'tsx', join(ROOT, 'tools/api.ts'), '--check']);
  expect(output).toBe('');
});

it('the page about observability names every event', async () => {
  const page = await readFile(join(ROOT, 'docs/observability.md'), 'utf8');
  expect(Object.keys(JOB_EVENTS).filter((event) => !page.includes(`\`${event}\``))).toEqual([]);
});
