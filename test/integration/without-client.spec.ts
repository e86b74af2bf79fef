import { expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attempt } from '../../tools/workspace/command.js';

/** Makes Node answer as if these packages were not installed. */
const HOOK = (packages: readonly string[]): string => `export const resolve = (name, context, next) => {
  if (!${JSON.stringify(packages)}.includes(name)) return next(name, context);
  throw Object.assign(new Error("Cannot find package '" + name + "' imported from " + context.parentURL), { code: 'ERR_MODULE_NOT_FOUND' });
};`;
const asUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** One application after the other, each with these options. */
const PROGRAM = (applications: readonly object[]): string => `
  import { NestFactory } from '@nestjs/core';
  import { SingletonJobModule } from 'nestjs-singleton-job';
  import 'nestjs-singleton-job/testing';
  for (const options of ${JSON.stringify(applications)}) {
    const module = SingletonJobModule.forRoot({ projectName: 'myapp', ...options });
    const starting = NestFactory.createApplicationContext(module, { abortOnError: false, logger: false });
    await starting.then((app) => app.close()).then(() => console.log('started and stopped'), ({ message }) => console.log(message));
  }
`;

/** What the applications print where these packages are not installed. */
async function run(packages: readonly string[], applications: readonly object[]): Promise<string> {
  const register = `import { register } from 'node:module';
    register(${JSON.stringify(asUrl(HOOK(packages)))});
    const { getBuiltinModule } = process;
    process.getBuiltinModule = (name) => (${JSON.stringify(packages)}.includes(name) ? undefined : getBuiltinModule(name));`;
  const args = ['--import', 'tsx', '--import', asUrl(register), '--input-type=module', '--eval', PROGRAM(applications)];
  return (await attempt(process.execPath, args)).output;
}

const REDIS = { connection: 'redis://127.0.0.1:1' };
const POSTGRES = { connection: 'postgresql://127.0.0.1:1/p' };

const MYSQL = { connection: 'mysql://127.0.0.1:1/p' };
const SQLITE = { connection: `sqlite:${join(tmpdir(), `singleton-job-${randomUUID()}.db`)}` };
const OLDER_NODE = `connection to SQLite needs Node 22.13 or later, got ${process.version}: use that, or a server`;
const install = (client: string): string =>
  `connection needs the package '${client}', which is not installed: run npm install ${client}`;

it.concurrent.each([
  ['ioredis', REDIS, POSTGRES, install('ioredis')],
  ['pg', POSTGRES, MYSQL, install('pg')],
  ['mysql2', MYSQL, REDIS, install('mysql2')],
  ['node:sqlite', SQLITE, POSTGRES, OLDER_NODE],
])(
  'Without %s an application that needs it says what it needs, and others start',
  async (client, its, other, problem) => {
    const printed = await run([client, '@opentelemetry/api'], [{ store: 'memory' }, { enabled: false }, other, its]);
    expect(printed.trim().split('\n')).toEqual([
      ...Array<string>(3).fill('started and stopped'),
      'SingletonJobModule cannot start with these options:',
      `  - ${problem}`,
    ]);
  },
);

const CLIENTS = ['ioredis', 'pg', 'mysql2', 'node:sqlite'];

it.concurrent.each([
  ['pg', POSTGRES],
  ['mysql2', MYSQL],
  ['ioredis', REDIS],
])('An application with %s loads the client of no other store', async (client, its) => {
  const others = CLIENTS.filter((one) => one !== client);
  expect(await run(others, [its])).toBe('started and stopped\n');
});
