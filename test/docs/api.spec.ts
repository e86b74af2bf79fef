import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from '../../tools/workspace/command.js';
import { ROOT } from '../../tools/workspace/paths.js';

it('every public name has a docstring, and what `npm run api` writes is up to date', async () => {
  const { output } = await attempt(process.execPath, ['--import', 'tsx', join(ROOT, 'tools/api.ts'), '--check']);
  expect(output).toBe('');
});

it('the page about observability names every event', async () => {
  const page = await readFile(join(ROOT, 'docs/observability.md'), 'utf8');
  const report = await readFile(join(ROOT, 'libs/singleton-job/api/main.api.md'), 'utf8');
  const [, members = ''] = /^export interface JobEvents \{$(.*?)^\}$/ms.exec(report) ?? [];
  const events = [...members.matchAll(/^    (\w+):/gm)].map(([, event]) => event);
  expect(events).toContain('runStarted');
  expect(events.filter((event) => !page.includes(`\`${event}\``))).toEqual([]);
});
