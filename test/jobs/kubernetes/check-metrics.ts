import type { INetworkPolicySpec } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicySpec';
import { complain } from './check-pods.js';
import { isMatch, type Labels, listSpecs, listWorkloads, type Manifest, type Workload } from './manifest.js';

/** Verbs that have metrics, and run for long enough to be asked. */
const METERED = ['run', 'apply', 'work', 'listen'];
/** By which the README's PodMonitor, and the policies, choose pods. */
const LABEL = 'volley-metrics';
const PORT = 'metrics';

/** That Prometheus finds the metrics of each pod, may ask for them, and no one else may. */
export function checkMetrics(manifests: readonly Manifest[]): string[] {
  const policies = listSpecs(manifests, 'NetworkPolicy').map(({ spec }) => spec);
  return listWorkloads(manifests).flatMap((workload) =>
    checkPod(workload, policies).map((problem) => `${workload.manifest.metadata.name}: ${problem}`),
  );
}

function checkPod(workload: Workload, policies: readonly INetworkPolicySpec[]): string[] {
  const { container, labels, annotations } = workload;
  const { args = [], ports = [] } = container;
  const flag = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const port = flag('metrics-port');
  const open = ports.find(({ name }) => name === PORT)?.containerPort;
  if (port === undefined) {
    return [
      ...complain(METERED.includes(args[0] ?? ''), 'it has no metrics'),
      ...complain(open !== undefined, 'it has a port of metrics, and no --metrics-port'),
    ];
  }
  return [
    ...complain(open === undefined, 'it has no port of the name metrics'),
    ...complain(open !== undefined && String(open) !== port, `its metrics are on ${port}, its port is ${open}`),
    ...complain(flag('metrics-host') !== '0.0.0.0', 'its metrics are for its own pod alone'),
    ...complain(annotations['prometheus.io/scrape'] !== 'true', 'Prometheus does not find its metrics'),
    ...complain(annotations['prometheus.io/port'] !== port, 'Prometheus asks at another port'),
    ...complain(labels[LABEL] !== 'true', `it lacks the label ${LABEL}`),
    ...checkAccess(workload, policies),
  ];
}

function checkAccess({ labels }: Workload, policies: readonly INetworkPolicySpec[]): string[] {
  const rules = policies
    .filter(({ podSelector }) => isMatch(podSelector.matchLabels as Labels | undefined, labels))
    .flatMap(({ ingress }) => ingress ?? [])
    .filter((rule) => rule.ports === undefined || rule.ports.some(({ port }) => port === PORT));
  const isNamed = ({ from }: (typeof rules)[number]) =>
    (from ?? []).length > 0 &&
    from?.every(({ namespaceSelector }) => Object.keys(namespaceSelector?.matchLabels ?? {}).length > 0);
  return [
    ...complain(rules.length === 0, 'no NetworkPolicy lets Prometheus in'),
    ...complain(!rules.every(isNamed), 'its metrics are open to all'),
  ];
}
