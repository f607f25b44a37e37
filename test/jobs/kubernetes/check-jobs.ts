import type { IJobSpec } from 'kubernetes-models/batch/v1/JobSpec';
import { complain } from './check-pods.js';
import { firesOf, readCron } from './cron.js';
import { isDesk, listWorkloads, type Manifest, type Workload } from './manifest.js';

/** Schedules, deadlines, tries. */
export function checkJobs(manifests: readonly Manifest[]): string[] {
  return listWorkloads(manifests).flatMap((workload) =>
    [
      ...checkSchedule(workload),
      ...checkDeadlines(workload),
      ...checkIndexes(workload),
      ...checkFailurePolicy(workload),
    ].map((problem) => `${workload.manifest.metadata.name}: ${problem}`),
  );
}

const DAY_SECONDS = 86_400;

function checkSchedule(workload: Workload): string[] {
  const { cron, job } = workload;
  if (cron === undefined) return [];
  const { schedule, timeZone = '', startingDeadlineSeconds = 0 } = cron;
  const fields = readCron(schedule);
  if (fields === undefined) return [`the schedule ${schedule} cannot be read`];
  const fires = firesOf(fields);
  if (fires.length === 0) return [`the schedule ${schedule} never comes`];
  if (isDesk(workload)) return complain(cron.suspend !== true, 'it opens by itself, and holds the claim');
  const gaps = fires.slice(1).map((at, index) => at - (fires[index] ?? at));
  const shortest = Math.min(...gaps) * 60;
  return [
    ...complain(!Intl.supportedValuesOf('timeZone').includes(timeZone), `there is no time zone ${timeZone}`),
    ...complain(cron.suspend === true || job?.suspend === true, 'it is suspended'),
    ...complain((cron.successfulJobsHistoryLimit ?? 3) < 0, 'it cannot keep less than nothing'),
    ...complain(cron.concurrencyPolicy !== 'Forbid', 'two of its jobs may run at once'),
    // The controller looks every 10 seconds.
    ...complain(startingDeadlineSeconds < 10, 'a start that is missed by seconds is never made up for'),
    ...complain(
      startingDeadlineSeconds + (job?.activeDeadlineSeconds ?? Number.POSITIVE_INFINITY) >= shortest,
      'a job may still run when the next is due',
    ),
    ...complain(!((cron.failedJobsHistoryLimit ?? 0) > 0), 'no failed job is kept for a look'),
  ];
}

function checkDeadlines(workload: Workload): string[] {
  const { cron, job, pod } = workload;
  if (job === undefined) return [];
  const { activeDeadlineSeconds = 0, ttlSecondsAfterFinished: ttl } = job;
  return [
    ...complain(cron === undefined && job.suspend === true, 'it is suspended'),
    ...complain(activeDeadlineSeconds <= (pod.terminationGracePeriodSeconds ?? 30), 'it has no time to do anything'),
    ...complain(ttl === undefined || ttl < 0, 'it stays indefinitely'),
    ...complain(
      cron !== undefined && !isDesk(workload) && (ttl ?? 0) < DAY_SECONDS,
      'it is gone before a person looks',
    ),
    ...complain(!((job.completions ?? 1) > 0 && (job.parallelism ?? 1) > 0), 'it starts no pod'),
    ...complain((job.parallelism ?? 1) > (job.completions ?? 1), 'it starts more pods than it has work for'),
    ...complain(job.selector !== undefined || job.manualSelector === true, 'it chooses its pods itself'),
  ];
}

function checkIndexes({ job }: Workload): string[] {
  if (job === undefined) return [];
  const { completionMode = 'NonIndexed', backoffLimit, backoffLimitPerIndex, maxFailedIndexes, completions } = job;
  if (completionMode !== 'Indexed') {
    const own = { backoffLimitPerIndex, maxFailedIndexes, successPolicy: job.successPolicy };
    const given = Object.entries(own).filter(([, value]) => value !== undefined);
    return [
      ...given.map(([key]) => `${key} is for indexed jobs`),
      ...complain(!((backoffLimit ?? 6) > 0), 'it is tried once only'),
      ...complain((completions ?? 1) > 1, 'its pods cannot tell which of them they are'),
    ];
  }
  return [
    ...complain(completions === undefined, 'it does not say how many indexes there are'),
    ...complain(
      maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined,
      'maxFailedIndexes counts nothing',
    ),
    ...complain((maxFailedIndexes ?? 0) > (completions ?? 0), 'more indexes may fail than there are'),
    ...complain(backoffLimitPerIndex === 0, 'an index is tried once only'),
  ];
}

function checkFailurePolicy({ job, pod }: Workload): string[] {
  if (job === undefined) return [];
  const rules = job.podFailurePolicy?.rules ?? [];
  if (rules.length === 0) return ['it has no podFailurePolicy'];
  const decided = new Set<number>();
  return [
    ...complain(job.podReplacementPolicy !== 'Failed', 'its next pod starts while the last is draining'),
    ...complain(rules.length > 20, 'it has too many rules'),
    ...rules.flatMap((rule) =>
      checkRule(
        rule,
        job,
        pod.containers.map(({ name }) => name),
        decided,
      ),
    ),
    ...complain(!rules.some(isDisruption), 'a node that is drained counts as a failure'),
  ];
}

type Rule = NonNullable<IJobSpec['podFailurePolicy']>['rules'][number];

function isDisruption({ action, onPodConditions }: Rule): boolean {
  return (
    action === 'Ignore' &&
    (onPodConditions ?? []).some(({ type, status }) => type === 'DisruptionTarget' && status === 'True')
  );
}

function checkRule(rule: Rule, job: IJobSpec, containers: readonly string[], decided: Set<number>): string[] {
  const { action, onExitCodes, onPodConditions } = rule;
  const problems = [
    ...complain(
      (onExitCodes === undefined) === (onPodConditions === undefined),
      'a rule is for codes or for conditions',
    ),
    ...complain(action === 'FailIndex' && job.backoffLimitPerIndex === undefined, 'FailIndex is for indexed jobs'),
    ...complain(action === 'Ignore' && onExitCodes !== undefined, 'a pod that ends so is tried again without end'),
  ];
  if (onExitCodes === undefined) return problems;
  const { values, operator, containerName = '' } = onExitCodes;
  const sorted = [...new Set(values)].toSorted((a, b) => a - b);
  const late = values.filter((value) => decided.has(value));
  for (const value of values) decided.add(value);
  return [
    ...problems,
    ...complain(!containers.includes(containerName), `no container ${containerName}`),
    ...complain(operator !== 'In' || values.includes(0), 'success is no failure'),
    ...complain(values.join() !== sorted.join() || values.length === 0, 'its exit codes are not in order'),
    ...complain(late.length > 0, `an earlier rule has the exit codes ${late}`),
    ...complain(action === 'Count' && values.some((value) => value <= 4), 'it is tried again with the same end'),
    ...complain(action !== 'Count' && values.includes(75), 'it is not resumed'),
  ];
}
