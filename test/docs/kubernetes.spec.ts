import { describe, expect, it } from '@jest/globals';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type { IService } from 'kubernetes-models/v1';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { MODULE_OPTIONS } from '../../libs/singleton-job/src/options/module-option-table.js';
import { errorsInSamples } from '../support/compile-samples.js';

const FOLDER = join(import.meta.dirname, '../../docs/production/kubernetes');
const read = (name: string): unknown => parse(readFileSync(join(FOLDER, name), 'utf8'));

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

type Model = new (manifest: Manifest) => { validate(): void };

/** Throws if a field is missing or has a wrong value. The schemas accept unknown fields: see `typeErrors`. */
async function validate(manifest: Manifest): Promise<void> {
  const models = (await import(`kubernetes-models/${manifest.apiVersion}`)) as Readonly<Record<string, Model>>;
  const Kind = models[manifest.kind];
  if (Kind === undefined) throw new Error(`${manifest.apiVersion} has no ${manifest.kind}`);
  new Kind(manifest).validate();
}

/** The types made from the same schemas refuse unknown fields. */
function typeErrors(manifests: readonly Manifest[]): readonly string[] {
  const block = (manifest: Manifest): string =>
    [
      '```ts',
      `import type { I${manifest.kind} } from 'kubernetes-models/${manifest.apiVersion}';`,
      `export const manifest: I${manifest.kind} = ${JSON.stringify(manifest, null, 2)};`,
      '```',
    ].join('\n');
  return errorsInSamples(new Map(manifests.map((manifest) => [manifest.kind, block(manifest)])));
}

const { spec } = read('deployment.yaml') as IDeployment;
const labels = spec?.template.metadata?.labels;
const pod = spec?.template.spec;
const container = pod?.containers[0];
const variable = (wanted: string) => container?.env?.find(({ name }) => name === wanted);

describe('the manifests for Kubernetes', () => {
  const manifests = readdirSync(FOLDER).map((name) => read(name) as Manifest);

  it.each(manifests)('$kind has all fields and values that its schema requires', async (manifest) => {
    await expect(validate(manifest)).resolves.toBeUndefined();
  });

  it('have no field that the schemas do not know', () => {
    expect(typeErrors(manifests)).toEqual([]);
  });

  it('run three replicas, of which one may be away', () => {
    const budget = read('pod-disruption-budget.yaml') as IPodDisruptionBudget;
    expect(spec?.replicas).toBe(3);
    expect(budget.spec?.maxUnavailable).toBe(1);
  });

  it('select the pods of the deployment', () => {
    const budget = read('pod-disruption-budget.yaml') as IPodDisruptionBudget;
    const service = read('service.yaml') as IService;
    const spread = pod?.topologySpreadConstraints?.[0];
    expect(labels).toEqual({ app: 'worker' });
    for (const selector of [spec?.selector, budget.spec?.selector, spread?.labelSelector]) {
      expect(selector).toEqual({ matchLabels: labels });
    }
    expect(service.spec?.selector).toEqual(labels);
    expect(service.spec?.ports?.map(({ targetPort }) => targetPort)).toEqual(container?.ports?.map(({ name }) => name));
  });

  it('give a pod shutdownTimeout and a second to stop', () => {
    expect(variable('SINGLETON_JOB_SHUTDOWN_TIMEOUT')?.value).toBe(
      `${MODULE_OPTIONS.shutdownTimeout.default / 1_000}s`,
    );
    expect(Number(pod?.terminationGracePeriodSeconds) * 1_000).toBeGreaterThan(
      MODULE_OPTIONS.shutdownTimeout.default + 1_000,
    );
  });

  it('name the replica after its pod', () => {
    expect(variable('POD_NAME')?.valueFrom).toEqual({ fieldRef: { fieldPath: 'metadata.name' } });
  });

  it('replace a pod only where a new process would help', () => {
    const probes = [container?.startupProbe, container?.livenessProbe, container?.readinessProbe];
    expect(probes.map((probe) => probe?.httpGet)).toEqual(
      ['/health/live', '/health/live', '/health/ready'].map((path) => ({ path, port: 'http' })),
    );
  });
});
