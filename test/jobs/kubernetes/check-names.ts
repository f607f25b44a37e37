import { isMatch, type Labels, listSpecs, listWorkloads, type Manifest, type Workload } from './manifest.js';

const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
/** A name must leave room for what Kubernetes puts behind it: a CronJob's for the time, a Job's for the pod. */
const MAX_LENGTH: Readonly<Record<string, number>> = { CronJob: 52, Job: 57, Deployment: 47, Service: 63 };

/** Names, labels, and what points to what. */
export function checkNames(manifests: readonly Manifest[]): string[] {
  const workloads = listWorkloads(manifests);
  return [
    ...manifests.flatMap(checkName),
    ...findDoubles(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)),
    ...workloads.flatMap(checkPodNames),
    ...workloads.flatMap(checkOwnSelector),
    ...checkClaims(manifests),
    ...checkServices(manifests, workloads),
    ...checkPolicies(manifests, workloads),
  ];
}

function checkName({ kind, metadata: { name, labels = {} } }: Manifest): string[] {
  const most = MAX_LENGTH[kind] ?? 253;
  const isDns = name.split('.').every((part) => LABEL.test(part) && part.length <= 63);
  return [
    ...(isDns && name.length <= most ? [] : [`${kind} ${name} has a bad name`]),
    ...checkLabels(labels, `${kind} ${name}`),
    ...(labels['app.kubernetes.io/name'] === undefined ? [`${kind} ${name} lacks its label`] : []),
  ];
}

function checkLabels(labels: Labels, where: string): string[] {
  const bad = Object.entries(labels).filter(([key, value]) => {
    const [name = '', prefix = 'a', ...more] = key.split('/').toReversed();
    const isName = (text: string) => /^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/.test(text);
    return more.length > 0 || !isName(name) || !/^[a-z0-9.-]{1,253}$/.test(prefix) || !(value === '' || isName(value));
  });
  return bad.map(([key, value]) => `${where} has a bad label ${key}: ${value}`);
}

function checkPodNames({ manifest, pod, container, labels }: Workload): string[] {
  const where = manifest.metadata.name;
  const ports = (container.ports ?? []).map(({ name = '' }) => name);
  const variables = (container.env ?? []).map(({ name }) => name);
  const volumes = (pod.volumes ?? []).map(({ name }) => name);
  const own = [...pod.containers.map(({ name }) => name), ...volumes, ...ports];
  return [
    ...own.filter((name) => !LABEL.test(name) || name.length > 63).map((name) => `${where} has a bad name: ${name}`),
    ...ports.filter((name) => name.length > 15).map((name) => `${where}: the name of a port is too long: ${name}`),
    ...variables.filter((name) => !/^[A-Z][A-Z0-9_]*$/.test(name)).map((name) => `${where} has a bad variable ${name}`),
    ...[variables, volumes, ports].flatMap(findDoubles),
    ...checkLabels(labels, `pod of ${where}`),
  ];
}

/** A Deployment that does not select its own pods is refused. */
function checkOwnSelector({ manifest, deployment, labels }: Workload): string[] {
  if (deployment === undefined || isSelecting(deployment.selector.matchLabels as Labels | undefined, labels)) return [];
  return [`the selector of ${manifest.metadata.name} does not match its pods`];
}

function checkClaims(manifests: readonly Manifest[]): string[] {
  return listSpecs(manifests, 'PersistentVolumeClaim').flatMap(({ name, spec }) => {
    const storage = String(spec.resources?.requests?.storage);
    if (!/^[1-9]\d*[GT]i$/.test(storage)) return [`claim ${name} asks for ${storage}`];
    return spec.accessModes?.join() === 'ReadWriteOnce' ? [] : [`claim ${name} is not for one node`];
  });
}

function checkServices(manifests: readonly Manifest[], workloads: readonly Workload[]): string[] {
  return listSpecs(manifests, 'Service').flatMap(({ name, spec }) => {
    const behind = workloads.filter(({ labels }) => isSelecting(spec.selector as Labels | undefined, labels));
    if (behind.length === 0) return [`the selector of Service ${name} matches no pod`];
    const ports = spec.ports ?? [];
    if (ports.some(({ port }) => port < 1 || port > 65_535)) return [`Service ${name}: a port is out of range`];
    if ((spec.type ?? 'ClusterIP') !== 'ClusterIP') return [`Service ${name} is open to all without TLS`];
    return ports
      .filter(({ targetPort }) => !behind.every((workload) => hasPort(workload, targetPort)))
      .map(({ targetPort }) => `Service ${name}: no pod has the port ${targetPort}`);
  });
}

function checkPolicies(manifests: readonly Manifest[], workloads: readonly Workload[]): string[] {
  const policies = listSpecs(manifests, 'NetworkPolicy').map(({ name, spec }) => {
    const taken = workloads.filter(({ labels }) => isMatch(spec.podSelector.matchLabels as Labels | undefined, labels));
    return { name, spec, taken, types: spec.policyTypes ?? [] };
  });
  const lost = policies.filter(({ taken }) => taken.length === 0);
  const ports = policies.flatMap(({ name, spec, taken }) =>
    (spec.ingress ?? [])
      .flatMap((rule) => rule.ports ?? [])
      .filter(({ port }) => !taken.every((workload) => hasPort(workload, port)))
      .map(({ port }) => `NetworkPolicy ${name}: no pod has the port ${port}`),
  );
  const ignored = policies.filter(
    ({ spec, types }) => (spec.egress && !types.includes('Egress')) || (spec.ingress && !types.includes('Ingress')),
  );
  const open = workloads.flatMap((workload) =>
    (['Ingress', 'Egress'] as const)
      .filter((type) => !policies.some(({ taken, types }) => taken.includes(workload) && types.includes(type)))
      .map((type) => `no NetworkPolicy has the ${type} of ${workload.manifest.metadata.name}`),
  );
  const closed = workloads.flatMap((workload) =>
    listPorts(workload)
      .filter(
        (port) =>
          !policies.some(({ taken, spec }) => {
            const rules = taken.includes(workload) ? (spec.egress ?? []) : [];
            return rules.some((rule) => rule.ports?.some((each) => each.port === port) && rule.to === undefined);
          }),
      )
      .map((port) => `${workload.manifest.metadata.name} may not connect to port ${port}`),
  );
  return [
    ...closed,
    ...lost.map(({ name }) => `the selector of NetworkPolicy ${name} matches no pod`),
    ...ports,
    ...ignored.map(({ name }) => `NetworkPolicy ${name} has rules of a type that it does not name`),
    ...open,
  ];
}

/** Where a pod with these secrets has to connect to: names, the service, the database. */
function listPorts({ container }: Workload): number[] {
  const variables = (container.env ?? []).map(({ name }) => name);
  const ports = { VOLLEY_API_KEY: [53, 443], VOLLEY_DATABASE_URL: [53, 5432] };
  return Object.entries(ports).flatMap(([name, needed]) => (variables.includes(name) ? needed : []));
}

/** An empty selector takes every pod of the namespace: never meant here. */
function isSelecting(selector: Labels | undefined, labels: Labels): boolean {
  return Object.keys(selector ?? {}).length > 0 && isMatch(selector, labels);
}

export function hasPort({ container }: Workload, port: unknown): boolean {
  return (container.ports ?? []).some(({ name, containerPort }) => name === port || containerPort === port);
}

function findDoubles(names: readonly string[]): string[] {
  return names.filter((name, at) => names.indexOf(name) !== at).map((name) => `there are two of ${name}`);
}
