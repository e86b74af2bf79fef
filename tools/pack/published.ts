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

/**
 * A page from the root of the checkout as it is published: its relative links lead to the repository, at the tag of the version.
 * Pictures are linked to as files, everything else as GitHub shows it. Links within the page stay, and so does code.
 */
export function withAbsoluteLinks(page: string, repository: string, version: string): string {
  return page.replaceAll(/^```[^]*?^```$|(?<=\]\()(?!https?:|#)[^)\s]+/gm, (found) => {
    if (found.startsWith('```')) return found;
    return `${repository}/${/\.(svg|png)$/.test(found) ? 'raw' : 'blob'}/v${version}/${found}`;
  });
}
