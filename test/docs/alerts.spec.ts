import { describe, expect, it } from '@jest/globals';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { parser } from '@prometheus-io/lezer-promql';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { collectedMetrics } from '../support/collected-metrics.js';

const DOCS = join(import.meta.dirname, '../../docs');
const page = readFileSync(join(DOCS, 'alerts.md'), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const rulesIn = (path: string): Rule[] => {
  const { groups } = parse(readFileSync(join(DOCS, path), 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
  return groups.flatMap((group) => group.rules);
};
const rules = rulesIn('prometheus-rules.yml');

/** What the tree of an expression has of one kind, as text. */
function found(expr: string, kind: string): string[] {
  const all: string[] = [];
  parser.parse(expr).iterate({
    enter: ({ type, name, from, to }) => {
      if (kind === 'error' ? type.isError : name === kind) all.push(expr.slice(from, to));
    },
  });
  return all;
}

/** Each mistake with its rule in front. */
function onEachRule(mistakesIn: (rule: Rule) => readonly string[]): string[] {
  return rules.flatMap((rule) => mistakesIn(rule).map((mistake) => `${rule.alert}: ${mistake}`));
}

describe('the alerts', () => {
  it('are written in PromQL', () => {
    expect(onEachRule(({ expr }) => found(expr, 'error').map((at) => `mistake at '${at}'`))).toEqual([]);
    expect(found('sum by (job_name (x)', 'error')).not.toEqual([]);
    // the sample's own tests check that it exports the metrics of its alerts
    const ofReports = rulesIn('../apps/reports/prometheus-rules.yml');
    expect(ofReports.flatMap(({ expr }) => found(expr, 'error'))).toEqual([]);
    expect(ofReports.length).toBeGreaterThan(0);
  });

  it('use metrics of the library, and labels that they have', async () => {
    const scraped = new PrometheusSerializer().serialize(await collectedMetrics());
    const samples = [...scraped.matchAll(/^(singleton_job_\w+)\{(.*)\} \S+$/gm)];
    const names = new Set(samples.map(([, name]) => name));
    const labels = new Set(
      samples.flatMap(([, , list = '']) => [...list.matchAll(/(\w+)="/g)].map(([, label]) => label)),
    );
    const used = rules.flatMap(({ expr }) =>
      found(expr, 'VectorSelector').map((selector) => /^\w+/.exec(selector)?.[0]),
    );
    expect(used.filter((name) => name === undefined || !names.has(name))).toEqual([]);
    expect(new Set(used).size).toBeGreaterThanOrEqual(7);
    const unknown = ({ expr }: Rule): string[] =>
      [
        ...found(expr, 'GroupingLabels').flatMap((list) => list.match(/\w+/g) ?? []),
        ...found(expr, 'LabelName'),
      ].filter((label) => !labels.has(label));
    expect(onEachRule(unknown)).toEqual([]);
  });

  it('match values that these labels have', () => {
    const values = rules
      .flatMap(({ expr }) => found(expr, 'UnquotedLabelMatcher'))
      .map((matcher) => matcher.match(/[\w-]+/g) ?? [])
      .filter(([label]) => label !== 'job_name');
    expect(values.length).toBeGreaterThanOrEqual(2);
    const report = readFileSync(join(DOCS, '../libs/singleton-job/api/main.api.md'), 'utf8');
    expect(values.filter(([, ...rest]) => rest.some((value) => !report.includes(`'${value}'`)))).toEqual([]);
  });

  it('name the problem and the job, by labels of the result', () => {
    const missing = ({ expr, annotations }: Rule): string[] => {
      const kept = found(expr, 'GroupingLabels')[0]?.match(/\w+/g) ?? ['instance'];
      const named = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
      return named.filter((label) => !kept.includes(label));
    };
    expect(onEachRule(missing)).toEqual([]);
    const saysTooLittle = ({ labels, annotations }: Rule): boolean =>
      !labels['severity'] || !/\$labels\./.test(annotations['summary'] ?? '');
    expect(rules.filter(saysTooLittle)).toEqual([]);
  });

  it('are all explained on the page, with their severity', () => {
    const rows = [...page.matchAll(/^\| \[(\w+)\]\(#[\w-]+\) \| .+ \| (\w+) \|$/gm)].map(([, alert, severity]) => [
      alert,
      severity,
    ]);
    expect(rows).toEqual(rules.map(({ alert, labels }) => [alert, labels['severity']]));
  });
});
