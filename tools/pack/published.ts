import { posix } from 'node:path';

/**
 * What the manifest of the published package says about its repository, a URL such as `https://github.com/owner/name`. The field
 * `repository` of the root manifest is the one place that has it.
 */
export function addressesIn(repository: string) {
  return {
    homepage: `${repository}#readme`,
    repository: { type: 'git', url: `git+${repository}.git`, directory: 'libs/singleton-job' },
    bugs: { url: `${repository}/issues` },
  };
}

interface Published {
  readonly repository: string;
  readonly version: string;
  /** Path of the page in the checkout. @default README.md */
  readonly page?: string;
  /** Where it is in the package. @default where it is in the checkout */
  readonly as?: string;
  /** Pages of the package that it may link to. npm shows README and change log alone, so these two have none. @default none */
  readonly beside?: ReadonlySet<string>;
}

/**
 * A page of the checkout as it is published. A link to a page beside it stays in the package. Other relative links lead to the
 * repository, at the tag of the version: to pictures as files, to everything else as GitHub shows it. Links within the page stay, and
 * so does code.
 */
export function withPublishedLinks(text: string, published: Published): string {
  const { repository, version, page = 'README.md', as = page, beside = new Set() } = published;
  return text.replaceAll(/^```[^]*?^```$|(?<=\]\()(?!https?:|#)[^)\s]+/gm, (found) => {
    if (found.startsWith('```')) return found;
    const [path = '', anchor] = found.split('#');
    const target = posix.join(posix.dirname(page), path);
    const link = beside.has(target)
      ? posix.relative(posix.dirname(as), target)
      : `${repository}/${/\.(svg|png)$/.test(target) ? 'raw' : 'blob'}/v${version}/${target}`;
    return anchor === undefined ? link : `${link}#${anchor}`;
  });
}

/** The index of the guide as `llms.txt`, which tools look for: a title, a summary, and a line for each page. */
export function indexForTools(guide: string, { name, description }: { name: string; description: string }): string {
  return guide.replace(/^# .+$/m, `# ${name}\n\n> ${description}`);
}
