/** What keeps a version from being released under a tag. The change log must say what is in it, and hold nothing back for the next one. */
export function mistakesInRelease(tag: string, version: string, changelog: string): readonly string[] {
  const sections = new Map(
    changelog
      .split(/^## /m)
      .slice(1)
      .map((section) => [/^\[(.+?)\]/.exec(section)?.[1], /^- /m.test(section)]),
  );
  const mistakes: string[] = [];
  if (tag !== `v${version}`) {
    mistakes.push(`the tag is ${tag}, and libs/singleton-job/package.json has ${version}: expected v${version}`);
  }
  if (sections.get(version) !== true) mistakes.push(`CHANGELOG.md has no entry under [${version}]`);
  if (sections.get('Unreleased') === true) mistakes.push(`CHANGELOG.md has entries under [Unreleased]: move them`);
  return mistakes;
}

const REQUIRED = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'llms.txt', 'docs/agents.md'];
const ALLOWED = /^dist\/(esm|cjs)\/(?!.*\.spec\.).+\.(js|d\.ts)$|^dist\/cjs\/package\.json$|^docs\/(?!adr\/).+\.md$/;

/** What should not be in the package, or is not in it. That the entry points resolve is checked by publint. */
export function mistakesInPackage(files: readonly string[]): readonly string[] {
  return [
    ...REQUIRED.filter((file) => !files.includes(file)).map((file) => `the package has no ${file}`),
    ...files
      .filter((file) => !REQUIRED.includes(file) && !ALLOWED.test(file))
      .map((file) => `the package should not have ${file}`),
  ];
}
