import { describe, expect, it } from '@jest/globals';
import { readPage } from '../support/pages.js';
import { keptLabels, metricsIn, promqlChecker } from '../support/promql.js';

interface DataSource {
  readonly type: string;
  readonly uid: string;
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly description: string;
  readonly type: string;
  readonly datasource: DataSource;
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  readonly targets: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly legendFormat: string;
    readonly datasource: DataSource;
  }[];
}

interface Dashboard {
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly Panel[];
}

const dashboard = JSON.parse(readPage('docs/grafana-dashboard.json')) as Dashboard;
const { panels } = dashboard;
const PROMETHEUS: DataSource = { type: 'prometheus', uid: '${datasource}' };

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
    expect(new Set(queries.flatMap(({ expr }) => metricsIn(expr)))).toEqual(
      new Set([
        'singleton_job_is_leader',
        'singleton_job_is_paused',
        'singleton_job_runs_total',
        'singleton_job_run_duration_seconds_bucket',
        'singleton_job_ticks_dropped_total',
        'singleton_job_occurrences_missed_total',
        'singleton_job_heartbeat_duration_seconds_count',
        'singleton_job_heartbeat_duration_seconds_bucket',
        'singleton_job_leadership_transitions_total',
        'singleton_job_clock_offset_seconds',
      ]),
    );
  });

  it('names each series by labels of its query', () => {
    const missing = queries.flatMap(({ title, expr, legendFormat }) =>
      [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)]
        .filter(([, label = '']) => keptLabels(expr)?.includes(label) !== true)
        .map(([label]) => `${title}: ${label}`),
    );
    expect(missing).toEqual([]);
  });

  it('can be imported: it asks for the data source, and each panel has it, a title and a place of its own', () => {
    expect(dashboard).toMatchObject({ title: 'Singleton jobs', schemaVersion: 39 });
    expect(dashboard.templating.list).toMatchObject([
      { name: 'datasource', type: 'datasource', query: 'prometheus' },
      { name: 'job', type: 'query', datasource: PROMETHEUS },
    ]);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${String(x + (cell % w))},${String(y + Math.floor(cell / w))}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(cells.filter((cell) => Number(cell.split(',')[0]) >= 24)).toEqual([]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { title, description, type, datasource, targets } of panels) {
      expect([title, description, type]).not.toContain('');
      expect([datasource, ...targets.map((target) => target.datasource)]).toEqual([
        PROMETHEUS,
        ...targets.map(() => PROMETHEUS),
      ]);
      expect(targets.length).toBeGreaterThan(0);
    }
  });
});
