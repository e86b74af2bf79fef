import { describe, expect, it, jest } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../tools/servers/free-port.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { useRedis } from '../support/use-redis.js';
import { Image } from './support/image.js';

jest.setTimeout(600_000);

const DOCKERFILE = readFileSync(join(ROOT, 'apps/worker/Dockerfile'), 'utf8');

const redis = useRedis();

/** Unlike a container, the stage of the test shares addresses and ports with the other programs on this machine. */
const network = { HOST: '127.0.0.1', PORT: String(await freePort()) };

function start(image: Image, [program = '', ...args]: readonly string[]): ChildProcess {
  const path = { PATH: process.env['PATH'] };
  const env = {
    ...path,
    ...image.environment,
    ...network,
    SINGLETON_JOB_CONNECTION: redis().url,
    SINGLETON_JOB_PROJECT_NAME: 'image',
  };
  return spawn(program, args, { cwd: image.dir, env, stdio: ['ignore', 'pipe', 'inherit'] });
}

function untilItPrints(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes(text)) resolve();
    });
    child.once('exit', () => {
      reject(new Error(`it ended without '${text}':\n${printed}`));
    });
  });
}

describe('the image of the worker', () => {
  it('has only what it needs, leads, is healthy, and stops at SIGTERM', async () => {
    await using image = await Image.build(DOCKERFILE);

    expect(readdirSync(image.dir).sort()).toEqual(['dist', 'node_modules', 'package.json']);
    expect(existsSync(join(image.dir, 'node_modules/typescript'))).toBe(false);
    expect(image.environment).toMatchObject({ NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '3000' });

    const worker = start(image, image.command);
    const exited = once(worker, 'exit');
    try {
      await Promise.all([untilItPrints(worker, 'became LEADER'), untilItPrints(worker, 'answers at')]);
      expect(await once(start(image, image.healthCheck), 'exit')).toEqual([0, null]);
      worker.kill('SIGTERM');
      expect(await exited).toEqual([null, 'SIGTERM']);
      expect(await once(start(image, image.healthCheck), 'exit')).toEqual([1, null]);
    } finally {
      worker.kill('SIGKILL');
    }
  });
});
