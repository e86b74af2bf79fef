import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../workspace/paths.js';
import { addressesIn, indexForTools, withPublishedLinks } from './published.js';

const REPOSITORY = 'https://example.com/owner/name';

const AT = { repository: REPOSITORY, version: '1.2.3' };

const published = (text: string): string => withPublishedLinks(text, AT);

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

  it('keeps links between the pages of the package, and finds them from the index for tools', () => {
    const beside = new Set(['docs/a.md', 'docs/more/b.md']);
    const page = { ...AT, page: 'docs/more/b.md', beside };
    expect(withPublishedLinks('[a](../a.md#x) [adr](../adr/1.md)', page)).toBe(
      `[a](../a.md#x) [adr](${REPOSITORY}/blob/v1.2.3/docs/adr/1.md)`,
    );
    const guide = '# Guide\n\n## Start\n- [B](more/b.md): the second page.\n';
    const index = indexForTools(guide, { name: 'a-package', description: 'Does it.' });
    expect(withPublishedLinks(index, { ...AT, page: 'docs/README.md', as: 'llms.txt', beside })).toBe(
      '# a-package\n\n> Does it.\n\n## Start\n- [B](docs/more/b.md): the second page.\n',
    );
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
