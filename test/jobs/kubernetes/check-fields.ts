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
/** Its own package of models is for a later Node. */
const OF_KEDA = ['ScaledObject', 'TriggerAuthentication'];

/** What the API server would refuse of the fields of a manifest, and those that it would drop without saying so. */
export function checkFields(manifest: Manifest): string[] {
  const { kind, apiVersion } = manifest;
  if (OF_KEDA.includes(kind)) return [];
  if (!(kind in MODELS)) return [`the kit has no ${kind}`];
  const expected = MODELS[kind as keyof typeof MODELS].apiVersion;
  if (apiVersion !== expected) return [`${kind} is of ${apiVersion}, expected ${expected}`];
  return checkModel(manifest, kind as keyof typeof MODELS);
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
