import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { parser } from '@prometheus-io/lezer-promql';
import { collectedMetrics } from './collected-metrics.js';

/** What the tree of an expression has of one kind, as text. */
export function found(expr: string, kind: string): string[] {
  const all: string[] = [];
  parser.parse(expr).iterate({
    enter: ({ type, name, from, to }) => {
      if (kind === 'error' ? type.isError : name === kind) all.push(expr.slice(from, to));
    },
  });
  return all;
}

/** The names of the metrics in an expression. */
export function metricsIn(expr: string): (string | undefined)[] {
  return found(expr, 'VectorSelector').map((selector) => /^\w+/.exec(selector)?.[0]);
}

/** The labels that the result of an expression has. Undefined: it aggregates nothing. */
export function keptLabels(expr: string): readonly string[] | undefined {
  return found(expr, 'GroupingLabels')[0]?.match(/\w+/g) ?? undefined;
}

/** Tells what is wrong with an expression on the metrics of the library, as Prometheus scrapes them. */
export async function promqlChecker(): Promise<(expr: string) => string[]> {
  const scraped = new PrometheusSerializer().serialize(await collectedMetrics());
  const samples = [...scraped.matchAll(/^(singleton_job_\w+)\{(.*)\} \S+$/gm)];
  const names = new Set(samples.map(([, name]) => name));
  const labels = samples.flatMap(([, , list = '']) => [...list.matchAll(/(\w+)="/g)].map(([, label]) => label));
  // Prometheus adds the replica
  const known = new Set([...labels, 'instance']);
  return (expr) => [
    ...found(expr, 'error').map((at) => `a mistake at '${at}'`),
    ...metricsIn(expr).flatMap((name) => (name !== undefined && names.has(name) ? [] : [`no metric ${String(name)}`])),
    ...[...found(expr, 'GroupingLabels').flatMap((list) => list.match(/\w+/g) ?? []), ...found(expr, 'LabelName')]
      .filter((label) => !known.has(label))
      .map((label) => `no label ${label}`),
  ];
}
