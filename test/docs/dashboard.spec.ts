import { describe, expect, it } from '@jest/globals';
import { readPage } from '../support/pages.js';
import { keptLabels, promqlChecker } from '../support/promql.js';

interface Panel {
  readonly title: string;
  readonly datasource: object;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string; readonly datasource: object }[];
}

const { panels, templating } = JSON.parse(readPage('docs/grafana-dashboard.json')) as {
  readonly templating: { readonly list: readonly object[] };
  readonly panels: readonly Panel[];
};
const PROMETHEUS = { type: 'prometheus', uid: '${datasource}' };

/** As Grafana sends it: with values for its variables. */
const sent = (expr: string): string =>
  expr.replaceAll('$__range', '6h').replaceAll('$__rate_interval', '1m').replaceAll('$job', '.+');

/** Each query of each panel. */
const queries = panels.flatMap(({ title, targets }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr: sent(expr), legendFormat })),
);

describe('the dashboard for Grafana', () => {
  it('has queries in PromQL, on metrics of the library and labels that they have', async () => {
    const mistakesIn = await promqlChecker();
    expect(queries.flatMap(({ title, expr }) => mistakesIn(expr).map((mistake) => `${title}: ${mistake}`))).toEqual([]);
    expect(queries.filter(({ expr }) => expr.includes('$'))).toEqual([]);
    expect(queries.length).toBeGreaterThanOrEqual(10);
  });

  it('names each series by labels of its query', () => {
    const missing = queries.flatMap(({ title, expr, legendFormat }) =>
      [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)]
        .filter(([, label = '']) => keptLabels(expr)?.includes(label) !== true)
        .map(([label]) => `${title}: ${label}`),
    );
    expect(missing).toEqual([]);
  });

  it('asks for the data source, which each panel and query has', () => {
    expect(templating.list).toMatchObject([
      { name: 'datasource', type: 'datasource', query: 'prometheus' },
      { name: 'job', type: 'query', datasource: PROMETHEUS },
    ]);
    const all = panels.flatMap(({ datasource, targets }) => [datasource, ...targets.map((one) => one.datasource)]);
    expect(all).toEqual(all.map(() => PROMETHEUS));
  });
});
