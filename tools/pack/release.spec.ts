import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { ROOT } from '../workspace/paths.js';
import { mistakesInPackage, mistakesInRelease } from './release.js';

const CHANGELOG = '# Changelog\n\n## [Unreleased]\n\n## [1.2.3]\n\n### Added\n\n- A job.\n';

describe('a release', () => {
  it('has the tag of its version and an entry in the change log', () => {
    expect(mistakesInRelease('v1.2.3', '1.2.3', CHANGELOG)).toEqual([]);
    expect(mistakesInRelease('v1.2.4', '1.2.3', CHANGELOG)).toEqual([
      'the tag is v1.2.4, and libs/singleton-job/package.json has 1.2.3: expected v1.2.3',
    ]);
    expect(mistakesInRelease('v1.2.4', '1.2.4', CHANGELOG)).toEqual(['CHANGELOG.md has no entry under [1.2.4]']);
  });

  it('leaves no entry of the change log under Unreleased', () => {
    const held = CHANGELOG.replace('[Unreleased]\n', '[Unreleased]\n\n- Another job.\n');
    expect(mistakesInRelease('v1.2.3', '1.2.3', held)).toEqual([
      'CHANGELOG.md has entries under [Unreleased]: move them',
    ]);
  });

  it('packs code, types and pages, and nothing else', () => {
    const files = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'llms.txt', 'docs/agents.md'];
    const code = ['dist/esm/index.js', 'dist/esm/index.d.ts', 'dist/cjs/package.json', 'docs/production/redis.md'];
    expect(mistakesInPackage([...files, ...code])).toEqual([]);
    expect(mistakesInPackage([...files.slice(1), 'dist/esm/a.spec.js', '.env', 'docs/adr/0001.md'])).toEqual([
      'the package has no package.json',
      'the package should not have dist/esm/a.spec.js',
      'the package should not have .env',
      'the package should not have docs/adr/0001.md',
    ]);
  });

  it('is published by a job that has the identity for npm, and runs none of our code', () => {
    interface Job {
      readonly permissions?: Readonly<Record<string, string>>;
      readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
    }
    const text = readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8');
    const { permissions, jobs } = parse(text) as { permissions: object; jobs: Record<'check' | 'publish', Job> };
    expect({ permissions, ofCheck: jobs.check.permissions }).toEqual({ permissions: { contents: 'read' } });
    expect(jobs.publish.permissions).toEqual({ 'id-token': 'write' });
    expect(jobs.publish.steps.map(({ uses, run }) => uses?.replace(/@.*/, '') ?? run?.split(' ').slice(0, 3))).toEqual([
      'actions/setup-node',
      'actions/download-artifact',
      ['npm', 'publish', './*.tgz'],
    ]);
  });
});
