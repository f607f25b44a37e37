import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { DRAIN_MS } from '../../../src/command/signals.js';
import { VERBS } from '../../../src/verbs/verbs.js';
import { ROOT } from '../dockerfile.js';
import { hasPort } from './check-names.js';
import { listSpecs, listWorkloads, type Manifest, readJobFile, type Workload } from './manifest.js';

const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));

/** Made by commands of README.md, and never part of the kit: each apply would put a placeholder in the place of the key. */
export const SECRETS: Readonly<Record<string, string>> = {
  'volley-api-key': 'apiKey',
  'volley-database': 'url',
  'volley-hook': 'secret',
  'volley-ops-hook': 'url',
};

const SAFE_POD = {
  runAsNonRoot: true,
  runAsUser: 10001,
  runAsGroup: 10001,
  seccompProfile: { type: 'RuntimeDefault' },
};
const SAFE_CONTAINER = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** What pods may do, have and ask for. */
export function checkPods(manifests: readonly Manifest[]): string[] {
  return listWorkloads(manifests).flatMap((workload) =>
    [
      ...checkRights(workload),
      ...checkResources(workload),
      ...checkVolumes(workload, manifests),
      ...checkVariables(workload),
      ...checkCommand(workload),
      ...checkProbes(workload),
    ].map((problem) => `${workload.manifest.metadata.name}: ${problem}`),
  );
}

function checkRights({ pod, container }: Workload): string[] {
  const { fsGroup, fsGroupChangePolicy, ...context } = pod.securityContext ?? {};
  const claims = (pod.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined);
  return [
    ...(['hostNetwork', 'hostPID', 'hostIPC'] as const)
      .filter((key) => pod[key] === true)
      .map((key) => `it has ${key}`),
    ...(container.ports ?? []).filter(({ hostPort }) => hostPort !== undefined).map(() => 'it has a hostPort'),
    ...complain(pod.automountServiceAccountToken !== false, 'it gets the token of a service account'),
    ...complain(pod.enableServiceLinks !== false, 'it gets the addresses of all services'),
    ...complain(!isSame(context, SAFE_POD), 'the security of its pod is not that of the others'),
    ...complain(!isSame(container.securityContext ?? {}, SAFE_CONTAINER), 'its container is not restricted'),
    ...complain(pod.shareProcessNamespace === true, 'its containers see each other'),
    ...complain([...pod.containers, ...(pod.initContainers ?? [])].length !== 1, 'it has more than one container'),
    ...complain(claims && fsGroup !== context.runAsGroup, 'it cannot write to its claim'),
    ...complain(claims && fsGroupChangePolicy !== 'OnRootMismatch', 'each start changes the owner of every file'),
  ];
}

function checkResources({ container }: Workload): string[] {
  const { requests = {}, limits = {} } = container.resources ?? {};
  return [
    ...complain(requests.memory === undefined || limits.memory === undefined, 'its memory is not bounded'),
    ...complain(requests.cpu === undefined, 'it asks for no processor'),
    ...Object.entries({ ...requests, ...limits })
      .filter(([, quantity]) => !(readQuantity(quantity) > 0))
      .map(([name, quantity]) => `${quantity} is not a quantity of ${name}`),
    ...complain(readQuantity(requests.memory ?? 0) < MIN_MEMORY, 'it asks for less memory than Node needs'),
    ...Object.entries(limits)
      .filter(([name, limit]) => !(readQuantity(limit) >= readQuantity(requests[name] ?? limit)))
      .map(([name]) => `its limit of ${name} is below its request`),
  ];
}

const MIN_MEMORY = 100 * 2 ** 20;

const FACTORS: Readonly<Record<string, number>> = {
  m: 0.001,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};

/** NaN for what is not a quantity. */
export function readQuantity(text: string | number): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([a-zA-Z]*)$/.exec(String(text)) ?? [];
  return Number(number) * (FACTORS[unit] ?? Number.NaN);
}

function checkVolumes(workload: Workload, manifests: readonly Manifest[]): string[] {
  const { pod, container, deployment, job } = workload;
  const volumes = pod.volumes ?? [];
  const mounts = container.volumeMounts ?? [];
  const isThere = (kind: string, name: string | undefined) =>
    manifests.some((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  const claims = volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
  const once = listSpecs(manifests, 'PersistentVolumeClaim').filter(
    ({ name, spec }) => claims.includes(name) && !spec.accessModes?.includes('ReadWriteMany'),
  );
  const pods = Math.max(deployment?.replicas ?? 1, job?.parallelism ?? 1);
  return [
    ...mounts
      .filter(({ name }) => !volumes.some((volume) => volume.name === name))
      .map(({ name }) => `no volume ${name}`),
    ...volumes
      .filter(({ name }) => !mounts.some((mount) => mount.name === name))
      .map(({ name }) => `${name} is not mounted`),
    ...volumes.filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => `${name} is a directory of the node`),
    ...complain(new Set(mounts.map(({ mountPath }) => mountPath)).size < mounts.length, 'two volumes have one path'),
    ...mounts
      .filter(({ mountPath }) => !posix.isAbsolute(mountPath))
      .map(({ name }) => `the path of ${name} is not absolute`),
    ...claims.filter((name) => !isThere('PersistentVolumeClaim', name)).map((name) => `no claim ${name}`),
    ...volumes
      .flatMap(({ configMap }) => configMap?.name ?? [])
      .filter((name) => !isThere('ConfigMap', name))
      .map((name) => `no config map ${name}`),
    ...complain(once.length > 0 && pods > 1, 'several pods share a claim that is for one'),
    ...complain(
      once.length > 0 && deployment !== undefined && deployment.strategy?.type !== 'Recreate',
      'its next pod waits for the claim of the last',
    ),
    ...mounts
      .filter(
        (mount) =>
          (mount.readOnly === true) === volumes.some((each) => each.name === mount.name && each.persistentVolumeClaim),
      )
      .map(({ name }) => `${name} is not to be written to, or has to be`),
    ...checkFile(workload, manifests),
  ];
}

/** The job file that the command names is there, and the pod has the variables that it names. */
function checkFile(workload: Workload, manifests: readonly Manifest[]): string[] {
  const text = readJobFile(workload, manifests);
  if (text === undefined) return [];
  const { args = [], env = [] } = workload.container;
  if (text === '') return [`${args.find((arg) => arg.endsWith('.yaml'))} is not there`];
  const named = [...text.matchAll(/\{ env: (\w+) \}/g)].map(([, name = '']) => name);
  return named.filter((name) => !env.some((each) => each.name === name)).map((name) => `it has no variable ${name}`);
}

/** Variables and files of secrets. */
function checkVariables({ container, pod }: Workload): string[] {
  const references = (container.env ?? []).map(({ valueFrom }) => valueFrom?.secretKeyRef);
  const files = (pod.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []);
  const odd = references.flatMap((ref) => (ref === undefined || SECRETS[ref.name ?? ''] === ref.key ? [] : [ref.name]));
  return [
    ...complain(references.includes(undefined), 'a variable is not of a secret'),
    ...[...odd, ...files.filter((name) => !(name in SECRETS))].map(
      (name) => `no command of README.md makes the secret ${name}`,
    ),
  ];
}

function checkCommand({ pod, container, deployment }: Workload): string[] {
  const [verb = ''] = container.args ?? [];
  const isShell = container.command?.[0] === 'sh';
  const policy = pod.restartPolicy ?? 'Always';
  return [
    ...complain(container.image !== `volley:${version}`, `its image is not volley:${version}`),
    ...complain(container.command !== undefined && !isShell, 'its process 1 is not the entry point of the image'),
    ...complain(!isShell && !VERBS.includes(verb), `there is no volley ${verb}`),
    ...complain(policy !== (deployment === undefined ? 'Never' : 'Always'), `its restartPolicy is ${policy}`),
    ...complain(
      (pod.terminationGracePeriodSeconds ?? 30) * 1000 < 2 * DRAIN_MS,
      'it has less time to end than Volley takes',
    ),
  ];
}

function checkProbes(workload: Workload): string[] {
  const { container, deployment } = workload;
  const probes = [container.readinessProbe, container.livenessProbe].filter((probe) => probe !== undefined);
  return [
    ...complain(probes.length > 0 && deployment === undefined, 'a job has no probes'),
    ...probes.flatMap((probe) =>
      complain((probe.periodSeconds ?? 10) < 1 || (probe.failureThreshold ?? 3) < 1, 'a probe is never due'),
    ),
    ...(container.ports ?? []).flatMap(({ containerPort }) =>
      complain(!isPort(containerPort), 'a port is out of range'),
    ),
    ...complain(deployment?.replicas === 0, 'it has no pods'),
    ...probes.flatMap(({ httpGet }) =>
      complain(!hasPort(workload, httpGet?.port), 'a probe asks a port that it has not'),
    ),
    ...complain(
      (container.ports ?? []).some(({ name }) => name !== 'metrics') && probes.length < 2,
      'a server without probes',
    ),
  ];
}

export function complain(isWrong: boolean, problem: string): string[] {
  return isWrong ? [problem] : [];
}

export function isPort(port: unknown): boolean {
  return Number.isInteger(port) && Number(port) >= 1024 && Number(port) <= 65_535;
}

function isSame(value: object, expected: object): boolean {
  const sorted = (object: object) => JSON.stringify(Object.entries(object).toSorted());
  return sorted(value) === sorted(expected);
}
