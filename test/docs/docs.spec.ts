import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { formatDuration } from '../../libs/singleton-job/src/base/text/duration.js';
import { JOB_OPTIONS } from '../../libs/singleton-job/src/options/table/job-option-table.js';
import { MODULE_OPTIONS } from '../../libs/singleton-job/src/options/table/module-option-table.js';
import { type OptionRow } from '../../libs/singleton-job/src/options/table/option-table.js';
import { VERSIONS } from '../../tools/versions/versions.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { JOB_DOCS, MODULE_DOCS, OPTIONS_PAGE, withTables } from '../support/options-page.js';
import { pagesUnder, readPage as read } from '../support/pages.js';

const ADR = 'docs/adr';

const adrs = readdirSync(join(ROOT, ADR))
  .filter((name) => /^\d{4}-/.test(name))
  .toSorted();

const pages = [
  ...['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...['apps', 'docs', 'libs', 'test'].flatMap(pagesUnder),
];

const linesOf = (page: string): string[] => read(page).trimEnd().split('\n');
const readme = read('README.md');

/** What stands between fences is no prose: it has neither links nor headings. */
const proseOf = (page: string): string => read(page).replaceAll(/^```[^]*?^```$/gm, '');

/** The rows of all tables of a page whose head begins with `head`, cell by cell. */
function rowsUnder(head: string, page: string): string[][] {
  const tables = read(page)
    .split(/\n(?!\|)/)
    .map((block) => block.split('\n').filter((line) => line.startsWith('|')));
  return tables
    .filter(([first]) => first?.startsWith(`| ${head} |`))
    .flatMap((table) => table.slice(2))
    .map((row) => row.slice(1, -1).split('|'))
    .map((row) => row.map((cell) => cell.trim()));
}

/** The anchor that a heading gets where the page is shown. */
function anchorsOf(page: string): string[] {
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function brokenLinks(page: string): string[] {
  const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    if (/^https?:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
}

/** What `find` finds on any page, with the page in front. */
function onEachPage(find: (page: string) => string[]): string[] {
  return pages.flatMap((page) => find(page).map((found) => `${page}: ${found}`));
}

/** A default as the page shows it. */
function shown(value: unknown): string {
  if (typeof value === 'number') return value === 0 ? '0' : formatDuration(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

describe('the documentation', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

  it('has no broken link', () => {
    expect(onEachPage(brokenLinks)).toEqual([]);
  });

  it('names only existing scripts', () => {
    const named = (page: string): string[] =>
      [...read(page).matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
    expect(onEachPage((page) => named(page).filter((name) => !(name in scripts)))).toEqual([]);
  });
});

describe('the policy and the forms for issues', () => {
  it('lead to private reports in the repository of the manifest', () => {
    const { repository } = JSON.parse(read('package.json')) as { repository: string };
    for (const file of ['SECURITY.md', '.github/ISSUE_TEMPLATE/config.yml']) {
      expect([file, read(file).match(/https:[^)\s]+/g)]).toEqual([file, [`${repository}/security/advisories/new`]]);
    }
  });
});

describe('the README', () => {
  it('begins with the code of the minimal application', () => {
    const [, quickStart] = /^```ts\n([^]*?)^```$/m.exec(readme) ?? [];
    expect(quickStart).toBe(read('apps/minimal/src/main.ts'));
  });

  it('has a sample application that uses every entry point of the library', () => {
    const { exports } = JSON.parse(read('libs/singleton-job/package.json')) as { exports: Record<string, unknown> };
    // the library starts the thread itself, and a store of one's own is no part of an application
    const others = ['./package.json', './heartbeat-thread', './store'];
    const entryPoints = Object.keys(exports).filter((path) => !others.includes(path));
    const worker = readdirSync(join(ROOT, 'apps/worker'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => read(join('apps/worker', name)))
      .join('\n');
    const unused = entryPoints.filter((path) => !worker.includes(`'${join('nestjs-singleton-job', path)}'`));
    expect(unused).toEqual([]);
  });
});

describe('docs/README.md', () => {
  it('lists every page of the guide: the package has it as llms.txt', () => {
    const listed = [...read('docs/README.md').matchAll(/^- \[.+?\]\(([^)]+)\): /gm)].map(([, page = '']) => page);
    const guide = pagesUnder('docs').map((page) => page.slice('docs/'.length));
    const others = ['README.md', ...guide.filter((page) => page.startsWith('adr/'))];
    expect(guide.filter((page) => ![...listed, ...others].includes(page))).toEqual([]);
  });
});

describe('docs/production/bundlers.md', () => {
  it('has a run of each version of `npm run versions`, and the nightly run has them too', () => {
    const rows = rowsUnder('you need', 'docs/production/bundlers.md');
    const hasRun = (version: string): boolean => {
      const [product = '', major = ''] = version.split('-');
      return rows.some(
        ([name = '', , run = '']) =>
          new RegExp(`^(or )?\\[?${product}`, 'i').test(name) && new RegExp(`(^| )${major}\\.`).test(run),
      );
    };
    const names = Object.keys(VERSIONS);
    const parts = names.flatMap((name) => name.match(/[a-z]\w*-\d+/g) ?? []);
    expect(parts.filter((part) => !hasRun(part))).toEqual([]);
    const { jobs } = parse(read('.github/workflows/nightly.yml')) as {
      jobs: { versions: { strategy: { matrix: { versions: readonly string[] } } } };
    };
    const nightly = jobs.versions.strategy.matrix.versions.flatMap((some) => some.split(' '));
    expect(nightly.toSorted()).toEqual(names.toSorted());
  });
});

describe('docs/options.md', () => {
  it('has the tables that `npm run options` writes, with every option', () => {
    expect(read(OPTIONS_PAGE)).toBe(withTables(read(OPTIONS_PAGE)));
    const documented = rowsUnder('option', OPTIONS_PAGE).map(([name = '']) => name.replaceAll('`', ''));
    expect(documented.toSorted()).toEqual(Object.keys(MODULE_OPTIONS).toSorted());
    expect(rowsUnder('job option', OPTIONS_PAGE).length).toBeGreaterThan(10);
  });

  it.each([
    ['module', MODULE_OPTIONS, MODULE_DOCS],
    ['job', JOB_OPTIONS, JOB_DOCS],
  ])('and the docstrings of the %s give each option the default that the code has', (_what, table, docs) => {
    const defaults = Object.entries<OptionRow>(table).flatMap(([name, { default: value }]) =>
      value === undefined ? [] : [[name, shown(value)]],
    );
    const documented = defaults.map(([name = '']) => [name, /`([^`]*)`|'[^']*'/.exec(docs[name]?.default ?? '')?.[0]]);
    expect(documented.map(([name, value]) => [name, value?.replaceAll(/[`']/g, '')])).toEqual(defaults);
  });
});

const titleOf = (adr: string): string => linesOf(join(ADR, adr))[0]?.replace(/^# \d+\. /, '') ?? '';

describe('the decisions', () => {
  it('are listed in the index, with their titles', () => {
    const listed = [...read(join(ADR, 'README.md')).matchAll(/^- \[\d{4}\]\(([^)]+)\) (.+)$/gm)];
    const titles = adrs.map((name) => [name, titleOf(name)]);
    expect(listed.map(([, name, title]) => [name, title])).toEqual(titles);
  });
});

describe('the architecture', () => {
  it('lists every folder of the library', () => {
    const folders = readdirSync(join(ROOT, 'libs/singleton-job/src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    const listed = rowsUnder('folder', 'ARCHITECTURE.md').map(([name = '']) => name.replaceAll('`', ''));
    expect(listed.toSorted()).toEqual(folders.toSorted());
  });
});
