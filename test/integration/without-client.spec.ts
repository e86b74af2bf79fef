import { describe, expect, it } from '@jest/globals';
import { attempt } from '../../tools/workspace/command.js';

/** Makes Node answer as if these packages were not installed. */
const HOOK = (packages: readonly string[]): string => `export const resolve = (name, context, next) => {
  if (!${JSON.stringify(packages)}.includes(name)) return next(name, context);
  throw Object.assign(new Error("Cannot find package '" + name + "' imported from " + context.parentURL), { code: 'ERR_MODULE_NOT_FOUND' });
};`;
const asUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** An application with these options. */
const PROGRAM = (options: object): string => `
  import { NestFactory } from '@nestjs/core';
  import { SingletonJobModule } from 'nestjs-singleton-job';
  import 'nestjs-singleton-job/testing';
  const app = await NestFactory.createApplicationContext(SingletonJobModule.forRoot(${JSON.stringify(options)}));
  await app.close();
  console.log('started and stopped');
`;

/** What the application prints where these packages are not installed. */
async function run(packages: readonly string[], options: object): Promise<string> {
  const register = `import { register } from 'node:module'; register(${JSON.stringify(asUrl(HOOK(packages)))});`;
  const program = PROGRAM({ projectName: 'myapp', ...options });
  const args = ['--import', 'tsx', '--import', asUrl(register), '--input-type=module', '--eval', program];
  return (await attempt(process.execPath, args)).output;
}

const REDIS = { connection: 'redis://127.0.0.1:1' };
const POSTGRES = { connection: 'postgresql://127.0.0.1:1/p' };

describe('An application', () => {
  it.each([
    [['ioredis'], REDIS],
    [['pg'], POSTGRES],
  ])('fails at start-up without %s, and says what to install', async ([client = ''], options) => {
    const printed = await run([client], options);
    expect(printed).toContain('SingletonJobModule cannot start with these options');
    const problem = `connection needs the package '${client}', which is not installed: run npm install ${client}`;
    expect(printed).toContain(`- ${problem}`);
    expect(printed).not.toContain('started and stopped');
  });

  it.each([
    [['ioredis', 'pg', '@opentelemetry/api'], { store: 'memory' }],
    [['ioredis', 'pg', '@opentelemetry/api'], { enabled: false }],
    [['pg', '@opentelemetry/api'], REDIS],
    [['ioredis', '@opentelemetry/api'], POSTGRES],
  ])('starts without %j with %j, which needs none of them', async (packages, options) => {
    expect(await run(packages, options)).toContain('started and stopped');
  });
});
