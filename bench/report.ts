import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem, type } from 'node:os';
import { join, relative } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ROOT } from '../tools/workspace/paths.js';
import { inWords, type Row } from './figures.js';
import { installedLibrary } from './library.js';
import { type Measure } from './measure.js';
import { BENCH_SERVERS, Servers } from './servers.js';

export type Result = Omit<Measure, 'run'> & { readonly rows: readonly Row[] };

export interface Report {
  /** Machine, versions and date. */
  readonly conditions: Readonly<Record<string, string>>;
  readonly results: readonly Result[];
}

const RESULTS = join(import.meta.dirname, 'results');
const PACKAGES = ['@nestjs/core', '@nestjs/schedule', 'bullmq', 'ioredis'];

export async function conditions(isQuick: boolean): Promise<Report['conditions']> {
  await using servers = new Servers();
  const sources = await Promise.all(
    BENCH_SERVERS.map(async (kind) => [kind, (await servers.of(kind)).source] as const),
  );
  const all = cpus();
  const entries = PACKAGES.map(async (name) => {
    const manifest = await readFile(join(import.meta.dirname, 'node_modules', name, 'package.json'), 'utf8');
    return [name, (JSON.parse(manifest) as { version: string }).version] as const;
  });
  return {
    date: new Date().toISOString().slice(0, 10),
    kind: isQuick ? 'quick: every path once, the figures are rough' : 'full',
    'nestjs-singleton-job': await installedLibrary(),
    ...Object.fromEntries(await Promise.all(entries)),
    Node: process.version,
    ...Object.fromEntries(
      sources.map(([kind, source]) => [kind, /\w+ server v=[\d.]+|PostgreSQL [\d.]+/.exec(source)?.[0] ?? source]),
    ),
    machine: `${all.length} × ${all[0]?.model.trim() ?? 'CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()}`,
    'load average at the end': loadavg()
      .map((load) => load.toFixed(1))
      .join(', '),
  };
}

/** A table in Markdown. Rows of one measure may have different columns. */
export function tableOf({ rows }: Pick<Result, 'rows'>): string {
  const columns = [...new Set(rows.flatMap(({ cells }) => Object.keys(cells)))];
  const line = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`;
  const body = rows.map(({ name, cells }) => line([name, ...columns.map((column) => inWords(cells[column] ?? ''))]));
  return [line(['', ...columns]), line(['---', ...columns.map(() => '--:')]), ...body].join('\n');
}

/** Writes results/ for a whole run; else into dist/, which git ignores. Answers where. */
export async function write(report: Report, isWhole: boolean): Promise<string> {
  const folder = isWhole ? RESULTS : join(import.meta.dirname, 'dist/results');
  await mkdir(folder, { recursive: true });
  const sections: string[] = [];
  for (const { name, title, picture, rows } of report.results) {
    sections.push(`## ${title} (\`${name}\`)`, tableOf({ rows }));
    if (picture === undefined) continue;
    await writeFile(join(folder, `${name}.svg`), picture(rows));
    sections.push(`![${title}](${name}.svg)`);
  }
  const facts = Object.entries(report.conditions).map(([name, value]) => `- ${name}: ${value}`);
  const intro = 'Written by `npm run bench`: [what is measured](../README.md#what-is-measured).';
  const page = ['# Results', intro, facts.join('\n'), ...sections].join('\n\n');
  const style = await resolveConfig(join(folder, 'README.md'), { editorconfig: true });
  await writeFile(join(folder, 'README.md'), await format(page, { ...style, parser: 'markdown' }));
  return relative(ROOT, folder);
}
