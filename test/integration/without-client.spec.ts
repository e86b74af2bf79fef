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

const CONNECTIONS: Readonly<Record<string, string>> = {
  ioredis: 'redis://127.0.0.1:1',
  pg: 'postgresql://127.0.0.1:1/p',
  mysql2: 'mysql://127.0.0.1:1/p',
  'node:sqlite': `sqlite:${join(tmpdir(), `singleton-job-${randomUUID()}.db`)}`,
};
const CLIENTS = Object.keys(CONNECTIONS);

const missing = (client: string): string =>
  client === 'node:sqlite'
    ? `connection to SQLite needs Node 22.13 or later, got ${process.version}: use that, or a server`
    : `connection needs the package '${client}', which is not installed: run npm install ${client}`;

// that of SQLite is a part of Node
it.concurrent.each(['ioredis', 'pg', 'mysql2'])(
  'With %s alone an application on its store starts, and others say what they need',
  async (client) => {
    const others = CLIENTS.filter((one) => one !== client);
    const connections = [client, ...others].map((one) => ({ connection: CONNECTIONS[one] }));
    const printed = await run(
      [...others, '@opentelemetry/api'],
      [{ store: 'memory' }, { enabled: false }, ...connections],
    );
    expect(printed.trim().split('\n')).toEqual([
      ...Array<string>(3).fill('started and stopped'),
      ...others.flatMap((one) => ['SingletonJobModule cannot start with these options:', `  - ${missing(one)}`]),
    ]);
  },
);
