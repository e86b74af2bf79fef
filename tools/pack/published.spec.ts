import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../workspace/paths.js';
import { addressesIn, withAbsoluteLinks } from './published.js';

const REPOSITORY = 'https://example.com/owner/name';

const published = (page: string): string => withAbsoluteLinks(page, REPOSITORY, '1.2.3');

describe('the published package', () => {
  it.each(['README.md', 'CHANGELOG.md'])('has no relative link in %s', (name) => {
    const page = readFileSync(join(ROOT, name), 'utf8');
    const relative = /(\]\(|\]: |(href|src)=")(?!https?:|#)[^)\s"]+/g;
    expect(page.match(relative)).not.toBeNull();
    expect(published(page).match(relative)).toBeNull();
  });

  it('links to pages of its own version, and keeps other links and code', () => {
    expect(published('[a](docs/a.md#b) ![c](d/c.svg)')).toBe(
      `[a](${REPOSITORY}/blob/v1.2.3/docs/a.md#b) ![c](${REPOSITORY}/raw/v1.2.3/d/c.svg)`,
    );
    const untouched = '[a](https://example.org) [b](#c)\n```ts\nhandlers[event](payload)\n```\n';
    expect(published(untouched)).toBe(untouched);
  });

  it('names the repository, the page and the issues by one address, that of the root manifest', () => {
    expect(addressesIn(REPOSITORY)).toMatchObject({
      repository: { url: 'git+https://example.com/owner/name.git' },
      homepage: 'https://example.com/owner/name#readme',
      bugs: { url: 'https://example.com/owner/name/issues' },
    });
    const { repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { repository: string };
    expect(repository).toMatch(/^https:\/\/github\.com\/[\w-]+\/[\w-]+$/);
  });
});
