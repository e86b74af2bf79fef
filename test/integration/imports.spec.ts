import { describe, expect, it } from '@jest/globals';
import { node } from '../../tools/workspace/command.js';

/** Which of these packages are loaded after the program has run. */
async function loadedBy(program: string): Promise<string[]> {
  const print = `
    const { createRequire } = await import('node:module');
    const files = Object.keys(createRequire(process.cwd() + '/').cache);
    const isLoaded = (name) => files.some((file) => file.includes('/node_modules/' + name + '/'));
    console.log(JSON.stringify(['ioredis', 'pg', '@opentelemetry/api'].filter(isLoaded)));`;
  return JSON.parse(await node('tsx/dist/cli.mjs', ['-e', `(async () => {${program}${print}})()`])) as string[];
}

const LIBRARY = './libs/singleton-job/src';

describe('The library', () => {
  it.each(['index.ts', 'testing/index.ts'])('loads no client until a store is made: %s', async (entry) => {
    expect(await loadedBy(`await import('${LIBRARY}/${entry}');`)).toEqual([]);
  });

  it.each([
    ['ioredis', 'redis://127.0.0.1:1'],
    ['pg', 'postgresql://127.0.0.1:1/p'],
  ])('loads %s only, for the connection %s', async (client, connection) => {
    const make = `
      const { createStore } = await import('${LIBRARY}/control/create-services.ts');
      await createStore({ projectName: 'p', connection: '${connection}' });`;
    expect(await loadedBy(make)).toEqual([client]);
  });
});
