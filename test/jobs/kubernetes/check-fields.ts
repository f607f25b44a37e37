import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { CronJob } from 'kubernetes-models/batch/v1/CronJob';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Service } from 'kubernetes-models/v1/Service';
import type { Manifest } from './manifest.js';

const MODELS = { ConfigMap, CronJob, Deployment, Ingress, Job, NetworkPolicy, PersistentVolumeClaim, Service };
const API_VERSIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(MODELS).map(([kind, { apiVersion }]) => [kind, apiVersion])),
  ScaledObject: 'keda.sh/v1alpha1',
  TriggerAuthentication: 'keda.sh/v1alpha1',
};

type Shape = 'any' | readonly [Shape] | { readonly [key: string]: Shape };

const metadata: Shape = { name: 'any', labels: 'any' };
/** Of KEDA, what the kit uses: its own package of models is for a later Node. */
const SHAPES: Readonly<Record<string, Shape>> = {
  ScaledObject: {
    apiVersion: 'any',
    kind: 'any',
    metadata,
    spec: {
      scaleTargetRef: { apiVersion: 'any', kind: 'any', name: 'any' },
      minReplicaCount: 'any',
      maxReplicaCount: 'any',
      pollingInterval: 'any',
      cooldownPeriod: 'any',
      triggers: [
        { type: 'any', metadata: { query: 'any', targetQueryValue: 'any' }, authenticationRef: { name: 'any' } },
      ],
    },
  },
  TriggerAuthentication: {
    apiVersion: 'any',
    kind: 'any',
    metadata,
    spec: { secretTargetRef: [{ parameter: 'any', name: 'any', key: 'any' }] },
  },
};

/** What the API server would refuse of the fields of a manifest, and those that it would drop without saying so. */
export function checkFields(manifest: Manifest): string[] {
  const { kind, apiVersion } = manifest;
  const expected = API_VERSIONS[kind];
  if (expected === undefined) return [`the kit has no ${kind}`];
  if (apiVersion !== expected) return [`${kind} is of ${apiVersion}, expected ${expected}`];
  const shape = SHAPES[kind];
  return shape === undefined ? checkModel(manifest, kind as keyof typeof MODELS) : listOthers(manifest, shape, '');
}

/**
 * The package's validators look at each field of the schema, and ignore what else is there. So a field that none of them looks at is
 * unknown.
 */
function checkModel(manifest: Manifest, kind: keyof typeof MODELS): string[] {
  const looked = new Map<object, Set<string>>();
  const model: object & { validate(): void } = new MODELS[kind](manifest as never);
  try {
    watch(model, looked).validate();
  } catch (error) {
    return [(error as Error).message];
  }
  return listUnseen(model, looked, '');
}

function watch<T extends object>(target: T, looked: Map<object, Set<string>>): T {
  const keys = looked.get(target) ?? new Set<string>();
  looked.set(target, keys);
  return new Proxy(target, {
    get: (object, key, receiver) => {
      keys.add(String(key));
      const value: unknown = Reflect.get(object, key, receiver);
      return typeof value === 'object' && value !== null ? watch(value, looked) : value;
    },
  });
}

function listUnseen(value: object, looked: Map<object, Set<string>>, path: string): string[] {
  const keys = looked.get(value);
  return Object.entries(value).flatMap(([key, child]: [string, unknown]) => {
    const here = `${path}/${key}`;
    if (!keys?.has(key)) return [`unknown field ${here}`];
    return typeof child === 'object' && child !== null ? listUnseen(child, looked, here) : [];
  });
}

function listOthers(value: unknown, shape: Shape, path: string): string[] {
  if (shape === 'any') return [];
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${path} is not a list`];
    return value.flatMap((item, at) => listOthers(item, shape[0] as Shape, `${path}/${at}`));
  }
  const known = shape as { readonly [key: string]: Shape };
  if (typeof value !== 'object' || value === null) return [`${path} is not an object`];
  return Object.entries(value).flatMap(([key, child]) => {
    const next = known[key];
    return next === undefined ? [`unknown field ${path}/${key}`] : listOthers(child, next, `${path}/${key}`);
  });
}
