import { describe, expect, it } from '@jest/globals';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type { IService } from 'kubernetes-models/v1';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { MODULE_OPTIONS } from '../../libs/singleton-job/src/options/table/module-option-table.js';
import { errorsInSamples } from '../support/compile-samples.js';

const FOLDER = join(import.meta.dirname, '../../docs/production/kubernetes');
const read = (name: string): unknown => parse(readFileSync(join(FOLDER, name), 'utf8'));

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

/** By the types that are made from the schemas of Kubernetes. */
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
  it('have all fields and values that their schemas require, and no others', () => {
    const manifests = readdirSync(FOLDER).map((name) => read(name) as Manifest);
    expect(typeErrors(manifests)).toEqual([]);
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
});
