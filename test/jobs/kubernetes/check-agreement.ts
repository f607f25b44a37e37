import { parse } from 'yaml';
import { complain } from './check-pods.js';
import { isDesk, listWorkloads, type Manifest, readJobFile, type Workload } from './manifest.js';

/** What a run has in common with its workers, and with the desk from which people resume it. */
export function checkAgreement(manifests: readonly Manifest[]): string[] {
  const workloads = listWorkloads(manifests);
  const ofVerb = (verb: string) => workloads.filter(({ container }) => container.args?.[0] === verb);
  const desks = workloads.filter(isDesk);
  const runs = ofVerb('run');
  return [
    ...complain(ofVerb('work').length > 0 && runs.length === 0, 'there are workers, and no run'),
    ...runs.flatMap((run) => [
      ...ofVerb('work').flatMap((worker) => checkWorker(worker, run, manifests)),
      ...complain(desks.length !== 1, 'there is no desk'),
      ...desks.flatMap((desk) => checkDesk(desk, run)),
    ]),
  ];
}

/** Workers that come for the run come when it does, and the run gives them work. */
function checkWorker(worker: Workload, run: Workload, manifests: readonly Manifest[]): string[] {
  const job = parse(readJobFile(run, manifests) ?? '') as { cluster?: object } | null;
  const times = ({ cron, job: of }: Workload) =>
    [cron?.schedule, cron?.timeZone, cron?.startingDeadlineSeconds, of?.activeDeadlineSeconds].join(', ');
  return [
    ...complain(job?.cluster === undefined, 'the job of the run has no `cluster`: its workers get nothing'),
    ...complain(
      worker.cron !== undefined && times(worker) !== times(run),
      'the workers come at other times than the run',
    ),
    ...listSecrets(worker)
      .filter((secret) => !listSecrets(run).includes(secret))
      .map((secret) => `the workers have ${secret}, and the run has not`),
  ];
}

/** What the run could read, a command at the desk can. */
function checkDesk(desk: Workload, run: Workload): string[] {
  return listSecrets(run)
    .filter((secret) => !listSecrets(desk).includes(secret))
    .map((secret) => `the run has ${secret}, and the desk has not`);
}

/** Variables and files, each with its secret. */
function listSecrets({ container, pod }: Workload): string[] {
  const variables = (container.env ?? []).map(
    ({ name, valueFrom }) => `${name} of ${valueFrom?.secretKeyRef?.name}/${valueFrom?.secretKeyRef?.key}`,
  );
  const files = (container.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
    const secret = pod.volumes?.find((volume) => volume.name === name)?.secret;
    return secret === undefined ? [] : [`${mountPath} of ${secret.secretName}`];
  });
  return [...variables, ...files];
}
