import { execFile } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../../tools/workspace/paths.js';

/** Makes Node answer as if the clients were not installed. */
const HOOK = `export const resolve = (name, context, next) => {
  if (!['ioredis', 'pg'].includes(name)) return next(name, context);
  throw Object.assign(new Error("Cannot find package '" + name + "' imported from " + context.parentURL), { code: 'ERR_MODULE_NOT_FOUND' });
};`;
const asUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
const REGISTER = asUrl(`import { register } from 'node:module'; register(${JSON.stringify(asUrl(HOOK))});`);

/** An application with these options, in a process without these clients. */
const PROGRAM = (options: string): string => `
  import { NestFactory } from '@nestjs/core';
  import { SingletonJobModule } from 'nestjs-singleton-job';
  import 'nestjs-singleton-job/testing';
  const app = await NestFactory.createApplicationContext(SingletonJobModule.forRoot(${options}));
  await app.close();
  console.log('started and stopped');
`;

function run(options: string): Promise<string> {
  const args = ['--import', 'tsx', '--import', REGISTER, '--input-type=module', '--eval', PROGRAM(options)];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT, env: { PATH: process.env['PATH'] } }, (_error, stdout, stderr) => {
      resolve(`${stdout}${stderr}`);
    });
  });
}

describe('Without its client', () => {
  it.each([
    ['ioredis', 'redis://127.0.0.1:1'],
    ['pg', 'postgresql://127.0.0.1:1/p'],
  ])('%s, a connection fails at start-up, and says what to install', async (client, url) => {
    const printed = await run(`{ projectName: 'myapp', connection: '${url}' }`);
    expect(printed).toContain('SingletonJobModule cannot start with these options');
    expect(printed).toContain(
      `- connection needs the package '${client}', which is not installed: run npm install ${client}`,
    );
    expect(printed).not.toContain('started and stopped');
  });

  it.each([`{ projectName: 'myapp', store: 'memory' }`, `{ projectName: 'myapp', enabled: false }`])(
    'an application starts that needs no Redis: %s',
    async (options) => {
      expect(await run(options)).toContain('started and stopped');
    },
  );
});
