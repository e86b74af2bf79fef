import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { DEFAULTS } from '../../libs/singleton-job/src/options/index.js';

const FOLDER = join(import.meta.dirname, '../../docs/production/kubernetes');
const read = (name: string): unknown => parse(readFileSync(join(FOLDER, name), 'utf8'));

/** The fields that the manifests use, as the API of Kubernetes spells them. It ignores a field that it does not know, or refuses it. */
const FIELDS = new Set([
  ...['apiVersion', 'kind', 'metadata', 'name', 'labels', 'app', 'spec', 'selector', 'matchLabels', 'labelSelector'],
  ...['replicas', 'strategy', 'type', 'rollingUpdate', 'maxSurge', 'maxUnavailable', 'template'],
  ...['terminationGracePeriodSeconds', 'topologySpreadConstraints', 'maxSkew', 'topologyKey', 'whenUnsatisfiable'],
  ...['securityContext', 'runAsNonRoot', 'runAsUser', 'containers', 'image', 'env', 'value', 'valueFrom', 'fieldRef'],
  ...['fieldPath', 'secretKeyRef', 'key', 'ports', 'containerPort', 'port', 'targetPort', 'startupProbe'],
  ...['livenessProbe', 'readinessProbe', 'httpGet', 'path', 'periodSeconds', 'timeoutSeconds', 'failureThreshold'],
  ...['resources', 'requests', 'limits', 'cpu', 'memory'],
]);

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Labelled {
  readonly matchLabels: Readonly<Record<string, string>>;
}

interface Deployment {
  readonly spec: {
    readonly replicas: number;
    readonly selector: Labelled;
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly topologySpreadConstraints: readonly { readonly labelSelector: Labelled }[];
        readonly containers: readonly [
          {
            readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
            readonly ports: readonly { readonly name: string }[];
            readonly startupProbe: Probe;
            readonly livenessProbe: Probe;
            readonly readinessProbe: Probe;
          },
        ];
      };
    };
  };
}

const { spec } = read('deployment.yaml') as Deployment;
const pod = spec.template.spec;
const [container] = pod.containers;
const { labels } = spec.template.metadata;
const variable = (wanted: string) => container.env.find(({ name }) => name === wanted);

function fieldsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(fieldsOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([field, entry]) => [field, ...fieldsOf(entry)]);
}

describe('the manifests for Kubernetes', () => {
  it('have a known kind, and fields of the API only', () => {
    const manifests = readdirSync(FOLDER).map((name) => read(name) as { apiVersion: string; kind: string });
    expect(manifests.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
      'apps/v1 Deployment',
      'policy/v1 PodDisruptionBudget',
      'v1 Service',
    ]);
    expect(manifests.flatMap(fieldsOf).filter((field) => !FIELDS.has(field))).toEqual([]);
  });

  it('select the pods of the deployment', () => {
    const { spec: budget } = read('pod-disruption-budget.yaml') as {
      spec: { maxUnavailable: number; selector: Labelled };
    };
    const { spec: service } = read('service.yaml') as { spec: { selector: object; ports: { targetPort: string }[] } };
    const [{ labelSelector } = { labelSelector: undefined }] = pod.topologySpreadConstraints;
    for (const selector of [spec.selector, budget.selector, labelSelector]) {
      expect(selector).toEqual({ matchLabels: labels });
    }
    expect(service.selector).toEqual(labels);
    expect(container.ports.map(({ name }) => name)).toEqual(service.ports.map(({ targetPort }) => targetPort));
    expect(budget.maxUnavailable).toBeLessThan(spec.replicas);
  });

  it('give a pod longer to stop than it takes, and a second more', () => {
    expect(variable('SINGLETON_JOB_SHUTDOWN_TIMEOUT')?.value).toBe(`${DEFAULTS.shutdownTimeoutMs / 1_000}s`);
    expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(DEFAULTS.shutdownTimeoutMs + 1_000);
  });

  it('name the replica after its pod', () => {
    expect(variable('POD_NAME')?.valueFrom).toEqual({ fieldRef: { fieldPath: 'metadata.name' } });
  });

  it('replace a pod only where a new process would help', () => {
    const paths = [container.startupProbe, container.livenessProbe, container.readinessProbe].map(
      ({ httpGet: { path, port } }) => `${port} ${path}`,
    );
    expect(paths).toEqual(['http /health/live', 'http /health/live', 'http /health']);
  });
});
