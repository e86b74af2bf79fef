import { describe, expect, it } from '@jest/globals';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { parser } from '@prometheus-io/lezer-promql';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JobEvents, type JobStatus } from 'nestjs-singleton-job';
import { parse } from 'yaml';
import { collectedMetrics } from '../support/collected-metrics.js';

const DOCS = join(import.meta.dirname, '../../docs');
const page = readFileSync(join(DOCS, 'alerts.md'), 'utf8');

type Outcome = NonNullable<JobStatus['lastRun']>['outcome'];
/** Records, so that the compiler finds a value that no longer exists. */
const OUTCOMES: Readonly<Record<Outcome, true>> = { succeeded: true, failed: true, cancelled: true };
const REASONS: Readonly<Record<JobEvents['leadershipLost' | 'leadershipReleased']['reason'], true>> = {
  expired: true,
  preempted: true,
  shutdown: true,
  'runner-failed': true,
  'failed-calls': true,
  paused: true,
  'stepped-down': true,
  unregistered: true,
  rebalance: true,
};

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
    const matched = (rule: Rule): string[][] =>
      found(rule.expr, 'UnquotedLabelMatcher').map((matcher) => matcher.match(/[\w-]+/g) ?? []);
    const values = rules.flatMap((rule) => matched(rule));
    expect(values.length).toBeGreaterThanOrEqual(3);
    const known: Readonly<Record<string, Readonly<Record<string, true>>>> = {
      reason: REASONS,
      outcome: OUTCOMES,
      job_name: { 'daily-report': true },
    };
    expect(values.filter(([label = '', ...rest]) => rest.some((value) => !(value in (known[label] ?? {}))))).toEqual(
      [],
    );
  });

  it('name the problem and the job, by labels of the result', () => {
    expect(
      onEachRule(({ labels, annotations }) =>
        labels['severity'] && annotations['summary'] ? [] : ['says too little'],
      ),
    ).toEqual([]);
    const missing = ({ expr, annotations }: Rule): string[] => {
      const kept = found(expr, 'GroupingLabels')[0]?.match(/\w+/g) ?? ['instance'];
      const labels = [
        ...Object.values(annotations)
          .join(' ')
          .matchAll(/\$labels\.(\w+)/g),
      ].map(([, label = '']) => label);
      return labels.filter((label) => !kept.includes(label));
    };
    expect(onEachRule(missing)).toEqual([]);
    expect(rules.filter(({ annotations }) => !/\$labels\./.test(annotations['summary'] ?? ''))).toEqual([]);
  });

  it('are all explained on the page, with their severity', () => {
    const rows = [...page.matchAll(/^\| \[(\w+)\]\(#[\w-]+\) \| .+ \| (\w+) \|$/gm)].map(([, alert, severity]) => [
      alert,
      severity,
    ]);
    expect(rows).toEqual(rules.map(({ alert, labels }) => [alert, labels['severity']]));
  });
});
