import { posix } from 'node:path';
import type { IDeploymentSpec } from 'kubernetes-models/apps/v1/DeploymentSpec';
import type { ICronJobSpec } from 'kubernetes-models/batch/v1/CronJobSpec';
import type { IJobSpec } from 'kubernetes-models/batch/v1/JobSpec';
import type { IIngressSpec } from 'kubernetes-models/networking.k8s.io/v1/IngressSpec';
import type { INetworkPolicySpec } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicySpec';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPersistentVolumeClaimSpec } from 'kubernetes-models/v1/PersistentVolumeClaimSpec';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';

export type Labels = Record<string, string>;

/** Any document of the kit. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Labels };
  data?: Labels;
  spec?: object;
}

interface Specs {
  CronJob: ICronJobSpec;
  Deployment: IDeploymentSpec;
  Job: IJobSpec;
  Ingress: IIngressSpec;
  NetworkPolicy: INetworkPolicySpec;
  PersistentVolumeClaim: IPersistentVolumeClaimSpec;
  Service: IServiceSpec;
}

/** A manifest whose pods are to be looked at. */
export interface Workload {
  readonly manifest: Manifest;
  readonly cron: ICronJobSpec | undefined;
  readonly job: IJobSpec | undefined;
  readonly deployment: IDeploymentSpec | undefined;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly pod: IPodSpec;
  readonly container: IContainer;
}

/** Names and specs of all manifests of a kind. */
export function listSpecs<K extends keyof Specs>(manifests: readonly Manifest[], kind: K) {
  return manifests
    .filter((manifest) => manifest.kind === kind)
    .map(({ metadata, spec }) => ({ name: metadata.name, spec: spec as Specs[K] }));
}

export function listWorkloads(manifests: readonly Manifest[]): Workload[] {
  return manifests.flatMap((manifest) => {
    const [cron] = listSpecs([manifest], 'CronJob').map(({ spec }) => spec);
    const job = cron?.jobTemplate.spec ?? listSpecs([manifest], 'Job')[0]?.spec;
    const deployment = listSpecs([manifest], 'Deployment')[0]?.spec;
    const template = job?.template ?? deployment?.template;
    const pod = template?.spec;
    if (pod === undefined || pod.containers[0] === undefined) return [];
    const labels = (template?.metadata?.labels ?? {}) as Labels;
    const annotations = (template?.metadata?.annotations ?? {}) as Labels;
    return [{ manifest, cron, job, deployment, labels, annotations, pod, container: pod.containers[0] }];
  });
}

/** A pod for people, who open it and run commands in it. */
export function isDesk({ labels }: Workload): boolean {
  return labels['app.kubernetes.io/component'] === 'desk';
}

/** It begins when a person starts it. */
export function isByHand(workload: Workload): boolean {
  return isDesk(workload) || workload.labels['app.kubernetes.io/component'] === 'schema';
}

/** The job file that the command names, as the config map has it that is mounted there; '' where it is not there. */
export function readJobFile({ pod, container }: Workload, manifests: readonly Manifest[]): string | undefined {
  const path = container.args?.find((arg) => arg.endsWith('.yaml'));
  if (path === undefined) return undefined;
  const mount = container.volumeMounts?.find(({ mountPath }) => mountPath === posix.dirname(path));
  const map = pod.volumes?.find(({ name }) => name === mount?.name)?.configMap?.name;
  const files = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === map)?.data;
  return files?.[posix.basename(path)] ?? '';
}

export function isMatch(selector: Labels | undefined, labels: Labels): boolean {
  return Object.entries(selector ?? {}).every(([key, value]) => labels[key] === value);
}
