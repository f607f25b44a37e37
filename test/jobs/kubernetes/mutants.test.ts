import { describe, expect, test } from 'vitest';
import { checkManifests } from './check-manifests.js';
import type { Manifest } from './manifest.js';
import { readOverlay } from './read-overlay.js';

/** Kind and name, the path of a field, what is put there (undefined removes it), and what the check must say. */
type Mutant = readonly [target: string, path: string, value: unknown, problem: RegExp];

const NIGHT = 'CronJob volley-nightly';
const NIGHT_JOB = 'spec.jobTemplate.spec';
const NIGHT_POD = `${NIGHT_JOB}.template.spec`;
const WORKERS = 'CronJob volley-workers';
const POD = 'spec.template.spec';
const DESK = 'CronJob volley-desk';
const LISTENER = 'Deployment volley-listener';

/** By the overlay in which they are planted. */
const MUTANTS: Readonly<Record<string, readonly Mutant[]>> = {
  nightly: [
    // Fields.
    [NIGHT, `${NIGHT_JOB}.backofLimit`, 6, /unknown field .*backofLimit/],
    [NIGHT, `${NIGHT_POD}.containers.0.resource`, {}, /unknown field .*resource/],
    [NIGHT, `${NIGHT_POD}.terminationGracePeriodSecond`, 90, /unknown field/],
    [NIGHT, `${NIGHT_JOB}.backoffLimit`, '6', /backoffLimit/],
    [NIGHT, 'apiVersion', 'batch/v1beta1', /expected batch\/v1/],
    [NIGHT, 'kind', 'CronJobs', /the kit has no CronJobs/],
    // Schedules.
    [NIGHT, 'spec.schedule', '30 9 31 2 *', /never comes/],
    [NIGHT, 'spec.schedule', '60 9 * * *', /cannot be read/],
    [NIGHT, 'spec.schedule', '30 9 * *', /cannot be read/],
    [NIGHT, 'spec.schedule', '30 9 * * 5-1', /cannot be read/],
    [NIGHT, 'spec.schedule', '*/0 9 * * *', /cannot be read/],
    [NIGHT, 'spec.schedule', 'TZ=Asia/Singapore 30 9 * * *', /cannot be read/],
    [NIGHT, 'spec.schedule', '30 */8 * * *', /still run when the next is due/],
    [NIGHT, 'spec.timeZone', 'Asia/Singapur', /no time zone/],
    [NIGHT, 'spec.startingDeadlineSeconds', 5, /never made up for/],
    [NIGHT, 'spec.concurrencyPolicy', 'Allow', /at once/],
    [NIGHT, 'spec.suspend', true, /is suspended/],
    [NIGHT, 'spec.successfulJobsHistoryLimit', -1, /less than nothing/],
    [NIGHT, 'spec.failedJobsHistoryLimit', 0, /no failed job is kept/],
    // Deadlines and tries.
    [NIGHT, `${NIGHT_JOB}.activeDeadlineSeconds`, 60, /no time to do anything/],
    [NIGHT, `${NIGHT_JOB}.activeDeadlineSeconds`, undefined, /still run when the next is due/],
    [NIGHT, `${NIGHT_JOB}.activeDeadlineSeconds`, 90_000, /still run when the next is due/],
    [NIGHT, `${NIGHT_JOB}.ttlSecondsAfterFinished`, 600, /before a person looks/],
    [NIGHT, `${NIGHT_JOB}.backoffLimit`, 0, /tried once only/],
    [NIGHT, `${NIGHT_JOB}.parallelism`, 2, /more pods than it has work for/],
    [NIGHT, `${NIGHT_JOB}.backoffLimitPerIndex`, 3, /backoffLimitPerIndex is for indexed jobs/],
    [NIGHT, `${NIGHT_JOB}.maxFailedIndexes`, 1, /maxFailedIndexes is for indexed jobs/],
    [NIGHT, `${NIGHT_JOB}.podReplacementPolicy`, 'TerminatingOrFailed', /while the last is draining/],
    [NIGHT, `${NIGHT_JOB}.podFailurePolicy.rules.0.action`, 'FailIndex', /FailIndex is for indexed jobs/],
    [NIGHT, `${NIGHT_JOB}.podFailurePolicy.rules.0.action`, 'Count', /tried again with the same end/],
    [NIGHT, `${NIGHT_JOB}.podFailurePolicy.rules.0.onExitCodes.values`, [1, 2, 3, 4, 75], /it is not resumed/],
    [NIGHT, `${NIGHT_JOB}.podFailurePolicy.rules.0.onExitCodes.values`, [0, 1, 2], /success is no failure/],
    [NIGHT, `${NIGHT_JOB}.podFailurePolicy.rules.0.onExitCodes.values`, [2, 1, 3, 4], /not in order/],
    [NIGHT, `${NIGHT_JOB}.podFailurePolicy.rules.0.onExitCodes.containerName`, 'main', /no container main/],
    [NIGHT, `${NIGHT_JOB}.podFailurePolicy.rules.1.onPodConditions.0.status`, 'False', /node that is drained/],
    [NIGHT, `${NIGHT_JOB}.podFailurePolicy`, undefined, /no podFailurePolicy/],
    [NIGHT, `${NIGHT_POD}.restartPolicy`, 'OnFailure', /restartPolicy is OnFailure/],
    [NIGHT, `${NIGHT_POD}.terminationGracePeriodSeconds`, 30, /less time to end/],
    // Names.
    [NIGHT, 'metadata.name', 'Volley_Nightly', /bad name/],
    [NIGHT, 'metadata.name', `volley-${'n'.repeat(50)}`, /bad name/],
    [NIGHT, `${NIGHT_JOB}.template.metadata.labels.team`, 'sales & care', /bad label/],
    [NIGHT, 'metadata.labels', undefined, /lacks its label/],
    [NIGHT, `${NIGHT_POD}.containers.0.name`, 'main.1', /bad name: main.1/],
    [NIGHT, `${NIGHT_POD}.containers.0.env.0.name`, 'volley api key', /bad variable/],
    ['PersistentVolumeClaim volley-data', 'metadata.name', 'volley', /no claim volley-data/],
    ['NetworkPolicy volley', 'spec.podSelector.matchLabels', { app: 'volley' }, /matches no pod/],
    ['NetworkPolicy volley', 'spec.policyTypes', ['Ingress'], /of a type that it does not name/],
    ['NetworkPolicy volley', 'spec.egress.0.ports.0.protocol', 'HTTP', /protocol/],
    // Pods.
    [NIGHT, `${NIGHT_POD}.hostNetwork`, true, /hostNetwork/],
    [NIGHT, `${NIGHT_POD}.hostPID`, true, /hostPID/],
    [NIGHT, `${NIGHT_POD}.volumes.1`, { name: 'data', hostPath: { path: '/data' } }, /directory of the node/],
    [NIGHT, `${NIGHT_POD}.automountServiceAccountToken`, undefined, /token/],
    [NIGHT, `${NIGHT_POD}.securityContext.runAsUser`, 0, /security of its pod/],
    [NIGHT, `${NIGHT_POD}.securityContext.fsGroup`, undefined, /cannot write to its claim/],
    [NIGHT, `${NIGHT_POD}.containers.0.securityContext.privileged`, true, /not restricted/],
    [NIGHT, `${NIGHT_POD}.containers.0.securityContext.readOnlyRootFilesystem`, false, /not restricted/],
    [NIGHT, `${NIGHT_POD}.containers.0.resources.limits.memory`, '128Mi', /below its request/],
    [NIGHT, `${NIGHT_POD}.containers.0.resources.limits.memory`, '1GB', /1GB is not a quantity/],
    [NIGHT, `${NIGHT_POD}.containers.0.resources.limits.cpu`, '100m', /below its request/],
    [NIGHT, `${NIGHT_POD}.containers.0.resources.requests.memory`, '256m', /less memory than Node/],
    [NIGHT, `${NIGHT_POD}.containers.0.imagePullPolicy`, 'Sometimes', /imagePullPolicy/],
    [NIGHT, `${NIGHT_POD}.dnsPolicy`, 'Cluster', /dnsPolicy/],
    [NIGHT, `${NIGHT_POD}.initContainers`, [{ name: 'wait', image: 'busybox:1.37' }], /more than one container/],
    [NIGHT, `${NIGHT_POD}.containers.0.env.0`, { name: 'VOLLEY_API_KEY', value: 'k' }, /not of a secret/],
    [NIGHT, `${NIGHT_POD}.containers.0.env.0.name`, 'API_KEY', /no variable VOLLEY_API_KEY/],
    [NIGHT, `${NIGHT_POD}.containers.0.env.0.valueFrom.secretKeyRef.name`, 'volley-key', /makes the secret/],
    [NIGHT, `${NIGHT_POD}.containers.0.env.0.valueFrom.secretKeyRef.key`, 'key', /makes the secret/],
    [NIGHT, `${NIGHT_POD}.containers.0.volumeMounts.1.readOnly`, true, /data is not to be written/],
    [NIGHT, `${NIGHT_POD}.containers.0.volumeMounts.0.readOnly`, false, /job is not to be written/],
    ['PersistentVolumeClaim volley-data', 'spec.accessModes', ['ReadWriteMany'], /not for one node/],
    ['PersistentVolumeClaim volley-data', 'spec.resources.requests.storage', '10GB', /asks for 10GB/],
    ['NetworkPolicy volley', 'spec.egress.1.ports.0.port', 433, /may not connect to port 443/],
    [NIGHT, `${NIGHT_POD}.containers.0.resources.limits`, undefined, /not bounded/],
    [NIGHT, `${NIGHT_POD}.containers.0.volumeMounts.1.name`, 'date', /no volume date/],
    [NIGHT, `${NIGHT_POD}.volumes.2`, { name: 'cache', emptyDir: {} }, /cache is not mounted/],
    [NIGHT, `${NIGHT_POD}.containers.0.volumeMounts.1.mountPath`, 'data', /not absolute/],
    [NIGHT, `${NIGHT_POD}.containers.0.volumeMounts.1.mountPath`, '/etc/volley', /two volumes have one path/],
    [NIGHT, `${NIGHT_POD}.volumes.0.configMap.name`, 'volley-jobs', /no config map/],
    [NIGHT, `${NIGHT_POD}.containers.0.args`, ['run', '/etc/volley/daily.yaml'], /daily.yaml is not there/],
    [NIGHT, `${NIGHT_POD}.containers.0.args.0`, 'send', /no volley send/],
    [NIGHT, `${NIGHT_POD}.containers.0.command`, ['npm', 'start'], /not the entry point/],
    [NIGHT, `${NIGHT_POD}.containers.0.image`, 'volley:latest', /not volley:\d/],
    [NIGHT, `${NIGHT_POD}.containers.0.readinessProbe`, { httpGet: { port: 1 } }, /a job has no probes/],
    // Metrics.
    [NIGHT, `${NIGHT_POD}.containers.0.args`, ['run', '/etc/volley/nightly.yaml'], /it has no metrics/],
    [NIGHT, `${NIGHT_POD}.containers.0.args.2`, '--metrics-file=/data/a.prom', /and no --metrics-port/],
    [NIGHT, `${NIGHT_POD}.containers.0.args.2`, '--metrics-port=9465', /on 9465, its port is 9464/],
    [NIGHT, `${NIGHT_POD}.containers.0.args.3`, '--metrics-host=127.0.0.1', /for its own pod alone/],
    [NIGHT, `${NIGHT_POD}.containers.0.ports`, undefined, /no port of the name metrics/],
    [NIGHT, `${NIGHT_POD}.containers.0.ports.0.name`, 'prometheus', /no pod has the port metrics/],
    [NIGHT, `${NIGHT_JOB}.template.metadata.annotations`, undefined, /Prometheus does not find/],
    [NIGHT, `${NIGHT_JOB}.template.metadata.annotations`, { 'prometheus.io/scrape': true }, /annotations/],
    [NIGHT, `${NIGHT_JOB}.template.metadata.labels.volley-metrics`, undefined, /lacks the label volley-metrics/],
    ['NetworkPolicy volley-metrics', 'spec.ingress.0.ports.0.port', 'http', /no pod has the port http/],
    ['NetworkPolicy volley-metrics', 'spec.ingress', [], /no NetworkPolicy lets Prometheus in/],
    ['NetworkPolicy volley-metrics', 'spec.ingress.0.from', undefined, /open to all/],
    ['NetworkPolicy volley-metrics', 'spec.ingress.0.from.0.namespaceSelector', {}, /open to all/],
    ['NetworkPolicy volley-metrics', 'spec.policyTypes', ['Egress'], /of a type that it does not name/],
  ],
  'cluster/nightly-workers': [
    // What run, workers and desk have in common.
    [WORKERS, 'spec.schedule', '0 10 * * *', /workers come at other times/],
    [NIGHT, 'spec.timeZone', 'Europe/Berlin', /workers come at other times/],
    [WORKERS, `${NIGHT_JOB}.activeDeadlineSeconds`, 18_000, /workers come at other times/],
    ['ConfigMap volley-nightly', 'data', { 'nightly-shared.yaml': 'name: nightly' }, /its workers get nothing/],
    ['ConfigMap volley-nightly', 'data', { 'nightly.yaml': 'name: nightly' }, /nightly-shared.yaml is not there/],
    [NIGHT, `${NIGHT_POD}.containers.0.env.2.valueFrom.secretKeyRef.name`, 'volley-db', /and the run has not/],
    [DESK, `${NIGHT_POD}.containers.0.env`, [], /the run has VOLLEY_DATABASE_URL .*, and the desk has not/],
    [DESK, `${NIGHT_POD}.containers.0.volumeMounts.1.mountPath`, '/etc/db', /the run has .*, and the desk has not/],
    [DESK, 'spec.suspend', false, /opens by itself/],
    [DESK, `${NIGHT_JOB}.template.metadata.labels`, { 'app.kubernetes.io/name': 'volley' }, /there is no desk/],
    [WORKERS, `${NIGHT_JOB}.completionMode`, 'NonIndexed', /is for indexed jobs/],
    ['NetworkPolicy volley-database', 'spec.egress.0.ports.0.port', 5433, /may not connect to port 5432/],
    [WORKERS, `${NIGHT_JOB}.completions`, undefined, /how many indexes/],
    [WORKERS, `${NIGHT_JOB}.parallelism`, 5, /more pods than it has work for/],
    [WORKERS, `${NIGHT_JOB}.maxFailedIndexes`, 5, /more indexes may fail/],
    [WORKERS, `${NIGHT_JOB}.backoffLimitPerIndex`, 0, /tried once only/],
    [WORKERS, `${NIGHT_JOB}.backoffLimitPerIndex`, undefined, /counts nothing/],
    [WORKERS, `${NIGHT_JOB}.podFailurePolicy.rules.1.onExitCodes.values`, [2, 4, 75], /an earlier rule has/],
    [WORKERS, `${NIGHT_JOB}.podFailurePolicy.rules.2.action`, 'Ignore', /without end/],
    [WORKERS, `${NIGHT_POD}.containers.0.env.1.name`, 'VOLLEY_API_KEY', /two of VOLLEY_API_KEY/],
    [WORKERS, `${NIGHT_POD}.containers.0.args.4`, '--json', /it has a port of metrics/],
    [WORKERS, `${NIGHT_JOB}.template.metadata.labels.volley-metrics`, 'yes', /volley-workers: no NetworkPolicy lets/],
  ],
  'cluster/scaled-workers': [
    ['Deployment volley-workers', 'spec.replicas', 2, /two say how many/],
    ['Deployment volley-workers', 'spec.selector.matchLabels', { app: 'workers' }, /does not match its pods/],
    ['ScaledObject volley-workers', 'spec.scaleTargetRef.name', 'workers', /no Deployment workers/],
    ['ScaledObject volley-workers', 'spec.minReplicaCount', 9, /counts cannot be/],
    ['ScaledObject volley-workers', 'spec.maxReplicas', 9, /unknown field .*maxReplicas/],
    ['ScaledObject volley-workers', 'spec.triggers.0.metadata.targetQueryValue', 200, /are texts/],
    ['ScaledObject volley-workers', 'spec.triggers.0.metadata.query', 'DELETE FROM volley.request', /not one number/],
    ['ScaledObject volley-workers', 'spec.triggers.0.authenticationRef.name', 'database', /no TriggerAuth/],
    ['TriggerAuthentication volley-database', 'spec.secretTarget', [], /unknown field .*secretTarget/],
  ],
  listener: [
    [LISTENER, 'spec.replicas', 2, /several pods share a claim/],
    [LISTENER, 'spec.replicas', 0, /no pods/],
    [LISTENER, `${POD}.containers.0.ports.0.containerPort`, 80_800, /out of range/],
    [LISTENER, `${POD}.volumes.1.secret.secretName`, 'hook', /makes the secret hook/],
    ['Service volley-listener', 'spec.type', 'LoadBalancer', /without TLS/],
    ['Service volley-listener', 'spec.ports.0.port', 0, /out of range/],
    [LISTENER, 'spec.strategy.type', 'RollingUpdate', /waits for the claim/],
    [LISTENER, `${POD}.containers.0.ports.0.name`, 'events-of-the-service', /too long/],
    [LISTENER, `${POD}.containers.0.ports.0.hostPort`, 8080, /hostPort/],
    [LISTENER, `${POD}.containers.0.readinessProbe.httpGet.port`, 'health', /a port that it has not/],
    [LISTENER, `${POD}.containers.0.livenessProbe`, undefined, /without probes/],
    [LISTENER, `${POD}.activeDeadline`, 60, /unknown field/],
    ['Service volley-listener', 'spec.selector', { 'app.kubernetes.io/name': 'volley' }, /matches no pod/],
    ['Service volley-listener', 'spec.selector', undefined, /matches no pod/],
    ['Service volley-listener', 'spec.ports.0.targetPort', 'web', /no pod has the port web/],
    ['NetworkPolicy volley-listener', 'spec.ingress.0.ports.0.port', 'web', /no pod has the port web/],
    ['NetworkPolicy volley-listener', 'spec.ingress.1', undefined, /no NetworkPolicy lets Prometheus in/],
    ['NetworkPolicy volley-listener', 'spec.ingress.1.from', [], /open to all/],
    ['NetworkPolicy volley-listener', 'spec.policyTypes', ['Ingress'], /Egress of volley-listener/],
  ],
  migration: [
    ['Job volley-migration', `${POD}.volumes.1.persistentVolumeClaim.claimName`, 'volley-date', /no claim/],
    ['Job volley-migration', 'spec.selector', { matchLabels: { a: 'b' } }, /chooses its pods itself/],
    ['Job volley-migration', 'spec.ttlSecondsAfterFinished', undefined, /stays indefinitely/],
    ['Job volley-migration', `${POD}.containers.0.ports.0.containerPort`, 9090, /on 9464, its port is 9090/],
    ['Job volley-migration', 'spec.schedule', '30 9 * * *', /unknown field/],
  ],
};

describe.each(Object.entries(MUTANTS))('%s', (overlay, mutants) => {
  test.each(mutants.map(([target, path, value, problem]) => ({ target, path, value, problem })))(
    '$target with $path: $value is refused',
    ({ target, path, value, problem }) => {
      const manifests = structuredClone(readOverlay(overlay));
      put(manifests, target, path, value);

      expect(checkManifests(manifests)).toContainEqual(expect.stringMatching(problem));
    },
  );
});

test('two documents of one name are refused', () => {
  const manifests = readOverlay('nightly');

  expect(checkManifests([...manifests, ...manifests.slice(0, 1)])).toEqual([
    'there are two of PersistentVolumeClaim volley-data',
  ]);
});

function put(manifests: readonly Manifest[], target: string, path: string, value: unknown): void {
  const manifest = manifests.find(({ kind, metadata }) => `${kind} ${metadata.name}` === target);
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let at = manifest as unknown as Record<string, unknown>;
  for (const key of keys) at = at[key] as Record<string, unknown>;
  if (value === undefined) delete at[last];
  else at[last] = value;
}
