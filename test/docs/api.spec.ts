import { expect, it } from '@jest/globals';
import { join } from 'node:path';
import { attempt } from '../../tools/workspace/command.js';
import { ROOT } from '../../tools/workspace/paths.js';

it('the list of public names and the table of events are up to date; if not, run `npm run api` and review the change', async () => {
  const { output } = await attempt(process.execPath, ['--import', 'tsx', join(ROOT, 'tools/api.ts'), '--check']);
  expect(output).toBe('');
});
