import { expect, it } from '@jest/globals';
import { join } from 'node:path';
import { attempt } from '../../tools/workspace/command.js';
import { ROOT } from '../../tools/workspace/paths.js';

it('every public name has a docstring, and what `npm run api` writes is up to date', async () => {
  const { output } = await attempt(process.execPath, ['--import', 'tsx', join(ROOT, 'tools/api.ts'), '--check']);
  expect(output).toBe('');
});
