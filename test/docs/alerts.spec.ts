import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { found, keptLabels, metricsIn, promqlChecker } from '../support/promql.js';

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

/** Each mistake with its rule in front. */
function onEachRule(mistakesIn: (rule: Rule) => readonly string[]): string[] {
  return rules.flatMap((rule) => mistakesIn(rule).map((mistake) => `${rule.alert}: ${mistake}`));
}

describe('the alerts', () => {
  it('are written in PromQL, on metrics of the library and labels that they have', async () => {
    const mistakesIn = await promqlChecker();
    expect(onEachRule(({ expr }) => mistakesIn(expr))).toEqual([]);
    expect(new Set(rules.flatMap(({ expr }) => metricsIn(expr))).size).toBeGreaterThanOrEqual(7);
    // the sample's own tests check that it exports the metrics of its alerts
    const ofReports = rulesIn('../apps/reports/prometheus-rules.yml');
    expect(ofReports.flatMap(({ expr }) => found(expr, 'error'))).toEqual([]);
    expect(ofReports.length).toBeGreaterThan(0);
  });

  it.each([
    ['a mistake', 'sum by (job_name (singleton_job_is_leader)', "a mistake at ''"],
    ['a metric that there is not', 'singleton_job_is_boss', 'no metric singleton_job_is_boss'],
    ['a label that it has not', 'sum by (queue) (singleton_job_is_leader)', 'no label queue'],
  ])('are refused with %s', async (_what, expr, mistake) => {
    expect((await promqlChecker())(expr)).toContain(mistake);
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
      const kept = keptLabels(expr) ?? ['instance'];
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
