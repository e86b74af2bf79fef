import { expect, it } from '@jest/globals';
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
  const register = `import { register } from 'node:module'; register(${JSON.stringify(asUrl(HOOK(packages)))});`;
  const args = ['--import', 'tsx', '--import', asUrl(register), '--input-type=module', '--eval', PROGRAM(applications)];
  return (await attempt(process.execPath, args)).output;
}

const REDIS = { connection: 'redis://127.0.0.1:1' };
const POSTGRES = { connection: 'postgresql://127.0.0.1:1/p' };

it.concurrent.each([
  ['ioredis', REDIS, POSTGRES],
  ['pg', POSTGRES, REDIS],
])('Without %s an application that needs it says what to install, and others start', async (client, its, other) => {
  const printed = await run([client, '@opentelemetry/api'], [{ store: 'memory' }, { enabled: false }, other, its]);
  const problem = `connection needs the package '${client}', which is not installed: run npm install ${client}`;
  expect(printed.trim().split('\n')).toEqual([
    ...Array<string>(3).fill('started and stopped'),
    'SingletonJobModule cannot start with these options:',
    `  - ${problem}`,
  ]);
});
