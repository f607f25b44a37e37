import { readFileSync } from 'node:fs';
import { DRAIN_MS } from '../../../src/command/signals.js';
import { VERBS } from '../../../src/verbs/verbs.js';
import { ROOT } from '../dockerfile.js';
import { checkFields } from './check-fields.js';
import type { Workload } from './manifest.js';
import { isDesk, isMatch, type Labels, listSpecs, listWorkloads, type Manifest, readJobFile } from './manifest.js';

const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));

/** Made by commands of README.md, and never part of the kit: each apply would put a placeholder in the place of the key. */
export const SECRETS: Readonly<Record<string, string>> = {
  'volley-api-key': 'apiKey',
  'volley-console-users': 'users.csv',
  'volley-database': 'url',
  'volley-database-owner': 'url',
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

/**
 * What is wrong with manifests that are applied together; [] where nothing is: fields that the API does not know, names of what is not
 * there, and pods that are not restricted. Names, quantities and schedules that cannot be read are left to the API server.
 */
export function checkManifests(manifests: readonly Manifest[]): string[] {
  const workloads = listWorkloads(manifests);
  const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  return [
    ...manifests.flatMap((manifest, at) => checkFields(manifest).map((problem) => `${names[at]}: ${problem}`)),
    ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `there are two of ${name}`),
    ...workloads.flatMap((workload) =>
      [
        ...checkRights(workload),
        ...checkVolumes(workload, names),
        ...checkCommand(workload, manifests),
        ...checkMetrics(workload),
      ].map((problem) => `${workload.manifest.metadata.name}: ${problem}`),
    ),
    ...checkSelectors(manifests, workloads),
    ...checkAgreement(manifests, workloads),
  ];
}

function checkRights({ pod, container }: Workload): string[] {
  const { fsGroup, fsGroupChangePolicy: _policy, ...context } = pod.securityContext ?? {};
  const claims = (pod.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined);
  const { requests = {}, limits = {} } = container.resources ?? {};
  const host = (['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace'] as const).filter((key) => pod[key]);
  return [
    ...host.map((key) => `it has ${key}`),
    ...complain(pod.automountServiceAccountToken !== false, 'it gets the token of a service account'),
    ...complain(!isSame(context, SAFE_POD), 'the security of its pod is not that of the others'),
    ...complain(!isSame(container.securityContext ?? {}, SAFE_CONTAINER), 'its container is not restricted'),
    ...complain(pod.containers.length + (pod.initContainers ?? []).length !== 1, 'it has more than one container'),
    ...complain(claims && fsGroup !== context.runAsGroup, 'it cannot write to its claim'),
    ...complain(requests.memory === undefined || limits.memory === undefined, 'its memory is not bounded'),
  ];
}

function checkVolumes({ pod, container }: Workload, names: readonly string[]): string[] {
  const volumes = pod.volumes ?? [];
  const needed = volumes.flatMap(({ persistentVolumeClaim, configMap }) => [
    ...(persistentVolumeClaim === undefined ? [] : [`PersistentVolumeClaim ${persistentVolumeClaim.claimName}`]),
    ...(configMap === undefined ? [] : [`ConfigMap ${configMap.name}`]),
  ]);
  const sorted = (items: readonly { name: string }[] = []) =>
    items
      .map(({ name }) => name)
      .toSorted()
      .join();
  return [
    ...needed.filter((name) => !names.includes(name)).map((name) => `no ${name}`),
    ...complain(
      sorted(container.volumeMounts) !== sorted(volumes),
      'not each of its volumes is mounted, and nothing else',
    ),
  ];
}

/** The command is one that there is, and has what its job file names. */
function checkCommand(workload: Workload, manifests: readonly Manifest[]): string[] {
  const { pod, container } = workload;
  const { args = [], env = [], command } = container;
  const text = readJobFile(workload, manifests);
  // A worker does not say how its run ended.
  const used = args[0] === 'work' ? text?.replace(/^(?:# )?notify:.*(?:\n +.*)*/m, '') : text;
  const named = [...(used ?? '').matchAll(/\{ env: (\w+) \}/g)].map(([, name = '']) => name);
  const secrets = [
    ...env.flatMap(({ valueFrom }) =>
      valueFrom === undefined ? [] : [[valueFrom.secretKeyRef?.name, valueFrom.secretKeyRef?.key]],
    ),
    ...(pod.volumes ?? []).flatMap(({ secret }) =>
      secret === undefined ? [] : [[secret.secretName, SECRETS[secret.secretName ?? '']]],
    ),
  ];
  return [
    ...complain(container.image !== `volley:${version}`, `its image is not volley:${version}`),
    ...complain(command !== undefined && command[0] !== 'sh', 'its process 1 is not the entry point of the image'),
    ...complain(command === undefined && !VERBS.includes(args[0] ?? ''), `there is no volley ${args[0]}`),
    ...complain(text === '', `${args.find((arg) => arg.endsWith('.yaml'))} is not there`),
    ...named.filter((name) => !env.some((each) => each.name === name)).map((name) => `it has no variable ${name}`),
    ...secrets
      .filter(([name, key]) => key === undefined || SECRETS[name ?? ''] !== key)
      .map(([name]) => `no command of README.md makes the secret ${name}`),
    ...complain(
      (pod.terminationGracePeriodSeconds ?? 30) * 1000 < 2 * DRAIN_MS,
      'it has less time to end than Volley takes',
    ),
  ];
}

/** Verbs that have metrics, and run for long enough to be asked. */
const METERED = ['run', 'apply', 'work', 'listen'];

/** That Prometheus finds the metrics of each pod. */
function checkMetrics({ container: { args = [], ports = [] }, labels, annotations }: Workload): string[] {
  const flag = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const port = flag('metrics-port');
  const open = ports.find(({ name }) => name === 'metrics')?.containerPort;
  return [
    ...complain(METERED.includes(args[0] ?? '') && port === undefined, 'it has no metrics'),
    ...complain(String(open) !== String(port), `its metrics are on ${port}, its port is ${open}`),
    ...complain(port !== undefined && flag('metrics-host') !== '0.0.0.0', 'its metrics are for its own pod alone'),
    ...complain(annotations['prometheus.io/port'] !== port, 'Prometheus does not find its metrics'),
    ...complain(labels['volley-metrics'] !== (port && 'true'), 'the label volley-metrics is not as its metrics are'),
  ];
}

/** What chooses pods by their labels chooses some, and names ports that they have. */
function checkSelectors(manifests: readonly Manifest[], workloads: readonly Workload[]): string[] {
  const choosing = [
    ...listSpecs(manifests, 'Service').map(({ name, spec }) => ({
      ...{ name, labels: spec.selector ?? { none: '' } },
      ports: (spec.ports ?? []).map(({ targetPort }) => targetPort),
    })),
    ...listSpecs(manifests, 'NetworkPolicy').map(({ name, spec }) => ({
      ...{ name, labels: spec.podSelector.matchLabels ?? {} },
      ports: (spec.ingress ?? []).flatMap(({ ports = [] }) => ports.map(({ port }) => port)),
    })),
    ...listSpecs(manifests, 'Deployment').map(({ name, spec }) => ({
      ...{ name, labels: spec.selector.matchLabels ?? { none: '' }, ports: [] },
    })),
  ];
  return choosing.flatMap(({ name, labels, ports }) => {
    const chosen = workloads.filter((workload) => isMatch(labels as Labels, workload.labels));
    return [
      ...complain(chosen.length === 0, `${name} matches no pod`),
      ...ports
        .filter((port) => !chosen.every((workload) => hasPort(workload, port)))
        .map((port) => `${name}: no pod has the port ${port}`),
    ];
  });
}

/** What a run has in common with its workers, and with the desk from which people resume it. */
function checkAgreement(manifests: readonly Manifest[], workloads: readonly Workload[]): string[] {
  const ofVerb = (verb: string) => workloads.filter(({ container }) => container.args?.[0] === verb);
  const desks = workloads.filter(isDesk);
  const times = ({ cron, job }: Workload) =>
    [cron?.schedule, cron?.timeZone, cron?.startingDeadlineSeconds, job?.activeDeadlineSeconds].join();
  const zoneOf = ({ container }: Workload) => container.env?.find(({ name }) => name === 'TZ')?.value;
  return ofVerb('run').flatMap((run) => [
    ...complain(run.cron?.timeZone !== zoneOf(run), 'days are counted by another clock than the schedule has'),
    ...complain(desks.length !== 1, 'there is no desk'),
    ...desks.flatMap((desk) => listLacking(desk, run).map((secret) => `the run has ${secret}, and the desk has not`)),
    ...ofVerb('work').flatMap((worker) => [
      ...complain(
        !/^cluster:/m.test(readJobFile(run, manifests) ?? ''),
        'the job of the run has no `cluster`: its workers get nothing',
      ),
      ...complain(
        readJobFile(worker, manifests) !== readJobFile(run, manifests),
        'the workers have another job file than the run, and leave it to others',
      ),
      ...complain(
        worker.cron !== undefined && times(worker) !== times(run),
        'the workers come at other times than the run',
      ),
      ...listLacking(run, worker).map((secret) => `the workers have ${secret}, and the run has not`),
    ]),
  ]);
}

/** Secrets and variables of the other that this one does not have. */
function listLacking(one: Workload, other: Workload): string[] {
  const listSecrets = ({ container, pod }: Workload) => [
    ...(container.env ?? []).map(
      ({ name, value, valueFrom }) => `${name} of ${value ?? valueFrom?.secretKeyRef?.name}`,
    ),
    ...(container.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
      const secret = pod.volumes?.find((volume) => volume.name === name)?.secret;
      return secret === undefined ? [] : [`${mountPath} of ${secret.secretName}`];
    }),
  ];
  return listSecrets(other).filter((secret) => !listSecrets(one).includes(secret));
}

function hasPort({ container }: Workload, port: unknown): boolean {
  return (container.ports ?? []).some(({ name, containerPort }) => name === port || containerPort === port);
}

function complain(isWrong: boolean, problem: string): string[] {
  return isWrong ? [problem] : [];
}

function isSame(value: object, expected: object): boolean {
  const sorted = (object: object) => JSON.stringify(Object.entries(object).toSorted());
  return sorted(value) === sorted(expected);
}
