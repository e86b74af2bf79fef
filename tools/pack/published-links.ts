import { posix } from 'node:path';

interface Published {
  /** The address of the repository. */
  readonly repository: string;
  readonly version: string;
  /** Its path in the checkout. */
  readonly page: string;
  /** Where it is in the package. */
  readonly as: string;
  /** Pages of the package that it may link to. */
  readonly beside: ReadonlySet<string>;
}

/**
 * The text of a page as it is published. A link to a page beside it stays in the package. Other relative links lead to
 * the repository at the tag of the version: to pictures as files, to everything else as GitHub shows it. Links within
 * the page stay, and so does code.
 */
export function withPublishedLinks(text: string, { repository, version, page, as, beside }: Published): string {
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
