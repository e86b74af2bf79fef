import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  readonly version?: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly optionalDependencies?: Readonly<Record<string, string>> }>>;
}

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): Manifest => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Manifest;
const root = read('package.json');
const library = read('libs/singleton-job/package.json');
/** What the worker needs at run time and what the rest needs besides. */
const installed = { ...root.devDependencies, ...root.dependencies };

/** `^12.5.1` and `^11.0.0 || ^12.0.0` in, the majors out. Majors below 1 break with every minor: `0.2`. */
function majors(range: string): string[] {
  return Array.from(range.matchAll(/(\d+)\.(\d+)\.\d+/g), ([, major = '', minor = '']) =>
    major === '0' ? `0.${minor}` : major,
  );
}

const consumers = ['nest-11-cjs', 'nest-11-esm', 'nest-12-cjs', 'nest-12-esm'];
/** Every folder with a lock file of its own. */
const lockedFolders = ['', 'bench/', 'apps/reports/', ...consumers.map((name) => `test/packages/apps/${name}/`)];

describe('the manifest of the library', () => {
  it('has a version that the change log has', () => {
    expect(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')).toContain(`\n## [${library.version ?? ''}]\n`);
  });

  it('installs no other package than cron-parser, in the versions that the workspace is tested with', () => {
    expect(library.dependencies).toEqual({ 'cron-parser': root.dependencies?.['cron-parser'] });
  });

  it.each(Object.entries(library.peerDependencies ?? {}))(
    'accepts the %s that the workspace is tested with',
    (name, range) => {
      const tested = majors(installed[name] ?? '');
      expect(tested).toHaveLength(1);
      expect(majors(range)).toEqual(expect.arrayContaining(tested));
    },
  );

  it('accepts the same versions of Node as the workspace', () => {
    expect(library.engines).toEqual(root.engines);
  });

  it.each(lockedFolders)('is locked without a registry address: %spackage-lock.json', (folder) => {
    expect(readFileSync(join(ROOT, `${folder}package-lock.json`), 'utf8')).not.toMatch(
      /"resolved": "(?!file:)|https?:\/\/[^"]*\.tgz/,
    );
  });

  it('is locked for apps/reports without a hash: the package changes with every commit', () => {
    const lock = JSON.parse(readFileSync(join(ROOT, 'apps/reports/package-lock.json'), 'utf8')) as Lockfile;
    expect(lock.packages['node_modules/nestjs-singleton-job']).not.toHaveProperty('integrity');
  });

  it.each(lockedFolders)('is locked for every platform: %spackage-lock.json', (folder) => {
    const lock = JSON.parse(readFileSync(join(ROOT, `${folder}package-lock.json`), 'utf8')) as Lockfile;
    const wanted = Object.values(lock.packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
    const paths = Object.keys(lock.packages);
    expect(wanted.filter((name) => !paths.some((path) => path.endsWith(`node_modules/${name}`)))).toEqual([]);
  });
});
