import { beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../tools/workspace/command.js';
import { convertToCommonJs } from '../../tools/workspace/common-js.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { oneForAll } from '../support/use-redis.js';

const CLIENTS = {
  ioredis: 'redis://127.0.0.1:1',
  pg: 'postgresql://127.0.0.1:1/p',
  mysql2: 'mysql://127.0.0.1:1/p',
} as const;
type Client = keyof typeof CLIENTS;
const NAMES = Object.keys(CLIENTS) as Client[];

/** Opens a store for each client, and says which of them it has. */
const PROGRAM = `
  import { openStore } from './library.js';
  const found = async ([client, connection]) => {
    try {
      await openStore({ projectName: 'shop', connection, minTtlMs: 10_000 });
      return client + ' is there';
    } catch (error) {
      return error.message;
    }
  };
  Promise.all(Object.entries(${JSON.stringify(CLIENTS)}).map(found)).then((lines) => console.log(lines.join('\\n')));
`;

/** What the program prints if this client is the only one. */
function expected(client: Client): string {
  const missing = (name: string): string =>
    `SingletonJobModule cannot start with these options:\n  - connection needs the package '${name}', which is not installed: run npm install ${name}`;
  return NAMES.map((name) => `${name === client ? `${name} is there` : missing(name)}\n`).join('');
}

describe.each(['esm', 'cjs'] as const)('A bundle that is made from the library in %s, where only', (format) => {
  const folder = oneForAll(temporaryFolder);

  beforeAll(async () => {
    const scratch = folder().path;
    const library = join(scratch, 'library.js');
    const entry = join(ROOT, 'libs/singleton-job/src/store/open-store.ts');
    await build({ entryPoints: [entry], outfile: library, bundle: true, packages: 'external', format: 'esm' });
    if (format === 'cjs') await convertToCommonJs([library], scratch);
    else await writeFile(join(scratch, 'package.json'), '{ "type": "module" }');
    await writeFile(join(scratch, 'main.mjs'), PROGRAM);
  });

  it.each(NAMES)('%s is installed, is built and has that client, which may be left external', async (client) => {
    const scratch = folder().path;
    const packages = join(scratch, 'node_modules');
    await mkdir(packages);
    await symlink(join(ROOT, 'node_modules', client), join(packages, client));
    const entryPoints = [join(scratch, 'main.mjs')];
    const options = { entryPoints, bundle: true, platform: 'node', logLevel: 'silent' } as const;
    const external = join(scratch, 'external.cjs');
    const elsewhere = join(scratch, 'elsewhere.cjs');
    await build({ ...options, external: [client], outfile: external });
    await build({ ...options, outfile: elsewhere });
    const printed = [await run(process.execPath, [external])];
    await rm(packages, { recursive: true });
    printed.push(await run(process.execPath, [elsewhere]));
    expect(printed).toEqual([expected(client), expected(client)]);
  });
});
