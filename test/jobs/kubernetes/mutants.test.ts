import { describe, expect, test } from 'vitest';
import { checkManifests } from './check-manifests.js';
import type { Manifest } from './manifest.js';
import { readOverlay } from './read-overlay.js';

/** Kind and name, the path of a field, what is put there (undefined removes it), and what the check must say. */
type Mutant = readonly [target: string, path: string, value: unknown, problem: RegExp];

const NIGHT = 'CronJob volley-nightly';
const JOB = 'spec.jobTemplate.spec';
const NIGHT_POD = `${JOB}.template.spec`;
const WORKERS = 'CronJob volley-workers';
const POD = 'spec.template.spec';
const DESK = 'CronJob volley-desk';
const LISTENER = 'Deployment volley-listener';

/** By the overlay in which they are planted. */
const MUTANTS: Readonly<Record<string, readonly Mutant[]>> = {
  nightly: [
    [NIGHT, `${JOB}.backofLimit`, 6, /unknown field .*backofLimit/],
    [NIGHT, `${JOB}.backoffLimit`, '6', /backoffLimit/],
    [NIGHT, 'apiVersion', 'batch/v1beta1', /expected batch\/v1/],
    [NIGHT, 'spec.concurrencyPolicy', 'Allow', /at once/],
    [NIGHT, 'spec.suspend', true, /the desk alone/],
    [NIGHT, `${JOB}.activeDeadlineSeconds`, 60, /no time to do anything/],
    [NIGHT, `${JOB}.activeDeadlineSeconds`, 90_000, /still run when the next is due/],
    [NIGHT, `${JOB}.backoffLimit`, 0, /tried once only/],
    [NIGHT, `${JOB}.podReplacementPolicy`, 'TerminatingOrFailed', /while the last is draining/],
    [NIGHT, `${JOB}.podFailurePolicy`, undefined, /no podFailurePolicy/],
    [NIGHT, `${NIGHT_POD}.restartPolicy`, 'OnFailure', /restartPolicy is OnFailure/],
    [NIGHT, `${NIGHT_POD}.terminationGracePeriodSeconds`, 30, /less time to end/],
    ['NetworkPolicy volley', 'spec.podSelector.matchLabels', { app: 'volley' }, /matches no pod/],
    ['NetworkPolicy volley', 'spec.egress.1.ports.0.port', 433, /may not connect to 443/],
    [NIGHT, `${NIGHT_POD}.hostNetwork`, true, /hostNetwork/],
    [NIGHT, `${NIGHT_POD}.automountServiceAccountToken`, undefined, /token/],
    [NIGHT, `${NIGHT_POD}.securityContext.runAsUser`, 0, /security of its pod/],
    [NIGHT, `${NIGHT_POD}.securityContext.fsGroup`, undefined, /cannot write to its claim/],
    [NIGHT, `${NIGHT_POD}.containers.0.securityContext.privileged`, true, /not restricted/],
    [NIGHT, `${NIGHT_POD}.containers.0.resources.limits`, undefined, /not bounded/],
    [NIGHT, `${NIGHT_POD}.containers.0.env.0`, { name: 'VOLLEY_API_KEY', value: 'k' }, /makes the secret/],
    [NIGHT, `${NIGHT_POD}.containers.0.env.0.name`, 'API_KEY', /no variable VOLLEY_API_KEY/],
    [NIGHT, `${NIGHT_POD}.containers.0.volumeMounts.1.readOnly`, true, /data is not to be written/],
    [NIGHT, `${NIGHT_POD}.containers.0.volumeMounts.1.name`, 'date', /not each of its volumes/],
    [NIGHT, `${NIGHT_POD}.volumes.0.configMap.name`, 'volley-jobs', /no config map/],
    [NIGHT, `${NIGHT_POD}.containers.0.args`, ['run', '/etc/volley/daily.yaml'], /daily.yaml is not there/],
    [NIGHT, `${NIGHT_POD}.containers.0.args.0`, 'send', /no volley send/],
    [NIGHT, `${NIGHT_POD}.containers.0.image`, 'volley:latest', /not volley:\d/],
    [NIGHT, `${NIGHT_POD}.containers.0.args`, ['run', '/etc/volley/nightly.yaml'], /it has no metrics/],
    [NIGHT, `${NIGHT_POD}.containers.0.args.2`, '--metrics-port=9465', /on 9465, its port is 9464/],
    [NIGHT, `${JOB}.template.metadata.annotations`, undefined, /Prometheus does not find/],
    ['NetworkPolicy volley-metrics', 'spec.ingress', [], /no NetworkPolicy lets Prometheus in/],
    ['NetworkPolicy volley-metrics', 'spec.ingress.0.from', undefined, /open to all/],
  ],
  'cluster/nightly-workers': [
    [WORKERS, 'spec.schedule', '0 10 * * *', /workers come at other times/],
    ['ConfigMap volley-nightly', 'data', { 'nightly-shared.yaml': 'name: nightly' }, /its workers get nothing/],
    [NIGHT, `${NIGHT_POD}.containers.0.env.2.valueFrom.secretKeyRef.name`, 'volley-db', /and the run has not/],
    [DESK, `${NIGHT_POD}.containers.0.env`, [], /the run has VOLLEY_DATABASE_URL .*, and the desk has not/],
    [DESK, 'spec.suspend', false, /the desk alone/],
    [WORKERS, `${JOB}.parallelism`, 5, /more pods than it has work for/],
    [WORKERS, `${JOB}.maxFailedIndexes`, 5, /more indexes may fail/],
    [WORKERS, `${JOB}.podFailurePolicy.rules.2.action`, 'Ignore', /without end/],
  ],
  'cluster/scaled-workers': [
    ['Deployment volley-workers', 'spec.replicas', 2, /two say how many/],
    ['ScaledObject volley-workers', 'spec.maxReplicas', 9, /unknown field .*maxReplicas/],
    ['ScaledObject volley-workers', 'spec.triggers.0.metadata.query', 'DELETE FROM volley.request', /not one number/],
    ['ScaledObject volley-workers', 'spec.triggers.0.authenticationRef.name', 'database', /no TriggerAuth/],
  ],
  listener: [
    [LISTENER, 'spec.replicas', 2, /several pods share a claim/],
    [LISTENER, 'spec.strategy.type', 'RollingUpdate', /waits for the claim/],
    [LISTENER, `${POD}.containers.0.readinessProbe.httpGet.port`, 'health', /a port that it has not/],
    [LISTENER, `${POD}.containers.0.livenessProbe`, undefined, /has two probes/],
    ['Service volley-listener', 'spec.selector', undefined, /matches no pod/],
    ['Service volley-listener', 'spec.ports.0.targetPort', 'web', /no pod has the port web/],
    ['NetworkPolicy volley-listener', 'spec.policyTypes', ['Ingress'], /no NetworkPolicy has its Egress/],
  ],
  migration: [
    ['Job volley-migration', `${POD}.volumes.1.persistentVolumeClaim.claimName`, 'volley-date', /no claim/],
    ['Job volley-migration', 'spec.ttlSecondsAfterFinished', undefined, /stays indefinitely/],
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

function put(manifests: readonly Manifest[], target: string, path: string, value: unknown): void {
  const manifest = manifests.find(({ kind, metadata }) => `${kind} ${metadata.name}` === target);
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let at = manifest as unknown as Record<string, unknown>;
  for (const key of keys) at = at[key] as Record<string, unknown>;
  if (value === undefined) delete at[last];
  else at[last] = value;
}
