import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { CronJob, type ICronJob } from 'kubernetes-models/batch/v1/CronJob';
import { ConfigMap, type IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { type IPersistentVolumeClaim, PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { type ISecret, Secret } from 'kubernetes-models/v1/Secret';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { DRAIN_MS } from '../../src/commands/terminal/drain-on-signal.js';
import type { Area } from '../../src/domain/areas.js';
import { isRowStep, type KeyCredentials } from '../../src/job/job.js';
import { parseJob } from '../../src/job/load.js';
import { EXIT } from '../../src/report/exit-code.js';
import { lastOf, ROOT, readDockerfile } from './dockerfile.js';

const MODELS = { CronJob, ConfigMap, Secret, PersistentVolumeClaim };
type Kind = keyof typeof MODELS;

const documents = parseAllDocuments(readFileSync(`${ROOT}jobs/kubernetes/cronjob.yaml`, 'utf8')).map(
  (document) => document.toJS() as { kind: Kind },
);
const find = <T>(kind: Kind) => documents.find((document) => document.kind === kind) as T;

const configMap = find<IConfigMap>('ConfigMap');
const secret = find<ISecret>('Secret');
const claim = find<IPersistentVolumeClaim>('PersistentVolumeClaim');
const cron = find<ICronJob>('CronJob').spec!;
const job = cron.jobTemplate.spec!;
const pod = job.template.spec!;
const container = pod.containers[0]!;
const [, jobPath = ''] = container.args ?? [];
const mounts = container.volumeMounts ?? [];
const mountOf = (volume: string) => mounts.find((mount) => mount.name === volume);

describe('documents', () => {
  test('are one of each kind, and valid to Kubernetes', () => {
    expect(documents.map((document) => document.kind).toSorted()).toEqual(Object.keys(MODELS).toSorted());
    for (const document of documents)
      expect(() => new MODELS[document.kind](document as never).validate()).not.toThrow();
  });

  test('name each other rightly', () => {
    expect(pod.volumes).toContainEqual({ name: 'job', configMap: { name: configMap.metadata?.name } });
    expect(pod.volumes).toContainEqual({
      name: 'data',
      persistentVolumeClaim: { claimName: claim.metadata?.name },
    });
    const reference = container.env?.find((variable) => variable.name === 'VOLLEY_API_KEY')?.valueFrom?.secretKeyRef;
    expect(reference?.name).toBe(secret.metadata?.name);
    expect(Object.keys(secret.stringData ?? {})).toEqual([reference?.key]);
    expect(Object.keys(configMap.data ?? {})).toEqual([posix.basename(jobPath)]);
  });

  test('hold no key, only the place for one', () => {
    expect(secret.stringData).toEqual({ apiKey: 'replace-me' });
  });
});

describe('schedule', () => {
  test('runs one at a time, at a stated hour of a stated zone', () => {
    expect(cron.concurrencyPolicy).toBe('Forbid');
    expect(cron.schedule).toMatch(/^\d+ \d+ \* \* \*$/);
    expect(Intl.supportedValuesOf('timeZone')).toContain(cron.timeZone);
  });

  test('makes up for a missed start, and ends a run before the next is due', () => {
    expect(cron.startingDeadlineSeconds).toBeGreaterThanOrEqual(600);
    expect((cron.startingDeadlineSeconds ?? 0) + (job.activeDeadlineSeconds ?? Number.POSITIVE_INFINITY)).toBeLessThan(
      86_400,
    );
  });

  test('keeps the last jobs for a look, and not indefinitely', () => {
    expect(cron.successfulJobsHistoryLimit).toBeGreaterThan(0);
    expect(cron.failedJobsHistoryLimit).toBeGreaterThan(0);
    expect(job.ttlSecondsAfterFinished).toBeGreaterThan(86_400);
  });
});

describe('failed pods', () => {
  const rules = job.podFailurePolicy?.rules ?? [];
  /** What Kubernetes does with a pod that ends so: the first rule that fits, else it counts. */
  const decide = (exitCode: number, isDisrupted = false) =>
    rules.find(
      (rule) =>
        rule.onExitCodes?.values.includes(exitCode) ||
        (isDisrupted &&
          rule.onPodConditions?.some(({ type, status }) => type === 'DisruptionTarget' && status === 'True')),
    )?.action ?? 'Count';

  test('are tried again after exit code 75 alone of ours', () => {
    const failures = Object.entries(EXIT).filter(([name]) => name !== 'ok');
    expect(Object.fromEntries(failures.map(([name, code]) => [name, decide(code)]))).toEqual({
      rejected: 'FailJob',
      notStarted: 'FailJob',
      inDoubt: 'FailJob',
      stopped: 'FailJob',
      again: 'Count',
    });
  });

  test('are tried again after a crash', () => {
    expect([134, 137, 139, 143].map((code) => decide(code))).toEqual(['Count', 'Count', 'Count', 'Count']);
    expect(job.backoffLimit).toBeGreaterThan(0);
  });

  test('do not count when the node is drained, unless the run had ended', () => {
    expect(decide(EXIT.again, true)).toBe('Ignore');
    expect(decide(137, true)).toBe('Ignore');
    expect(decide(EXIT.inDoubt, true)).toBe('FailJob');
  });

  test('are decided by rules that the API server takes', () => {
    for (const { onExitCodes, onPodConditions } of rules) {
      expect([onExitCodes, onPodConditions].filter((part) => part !== undefined)).toHaveLength(1);
      if (onExitCodes === undefined) continue;
      expect(onExitCodes.operator).toBe('In');
      expect(onExitCodes.containerName).toBe(container.name);
      expect(onExitCodes.values).toEqual([...new Set(onExitCodes.values)].toSorted((a, b) => a - b));
      expect(onExitCodes.values).not.toContain(0);
    }
    expect(pod.restartPolicy).toBe('Never');
  });

  test('are replaced only when they have ended', () => {
    expect(job.podReplacementPolicy).toBe('Failed');
    expect([job.completions, job.parallelism]).toEqual([1, 1]);
  });
});

describe('pod', () => {
  test('has more time to end than Volley takes', () => {
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual((2 * DRAIN_MS) / 1000);
  });

  test('runs the entry point of the image, as the user of the image, in the version of the package', () => {
    const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
    const user = lastOf(readDockerfile().at(-1)!, 'USER');

    expect(container.command).toBeUndefined();
    expect(container.args).toEqual(['run', expect.any(String)]);
    expect(`${pod.securityContext?.runAsUser}:${pod.securityContext?.runAsGroup}`).toBe(user);
    expect(pod.securityContext?.fsGroup).toBe(pod.securityContext?.runAsGroup);
    expect(container.image).toBe(`volley:${version}`);
  });

  test('has no right that it does not need', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.containers).toHaveLength(1);
  });

  test('is bounded in memory, and can write to its volume only', () => {
    expect(container.resources?.limits).toHaveProperty('memory');
    expect(container.resources?.requests).toHaveProperty('memory');
    expect(mounts.filter((mount) => mount.readOnly !== true).map((mount) => mount.name)).toEqual(['data']);
    expect(claim.spec?.accessModes).toEqual(['ReadWriteOnce']);
  });
});

describe('job file', () => {
  const text = Object.values(configMap.data ?? {})[0] ?? '';

  test('is one that Volley takes', () => {
    expect(parseJob(text, jobPath).name).toBe('nightly');
  });

  test('is mounted where the command looks for it', () => {
    expect(posix.dirname(jobPath)).toBe(mountOf('job')?.mountPath);
  });

  test('reads and writes in the volume only', () => {
    const parsed = parseJob(text, jobPath);
    const paths = parsed.steps
      .filter(isRowStep)
      .flatMap((step) => [...step.input.files, ...(step.kind === 'sms' ? (step.suppress?.files ?? []) : [])]);

    expect(paths).not.toEqual([]);
    for (const path of [...paths, parsed.output.directory])
      expect(path.startsWith(`${mountOf('data')?.mountPath}/`)).toBe(true);
  });

  test('takes its key from the variable that the pod has', () => {
    const credentials: Readonly<Partial<Record<Area, unknown>>> = parseJob(text, jobPath).service.credentials;
    const apiKeys = Object.values(credentials).map((own) => (own as KeyCredentials).apiKey);

    expect(apiKeys).not.toEqual([]);
    for (const apiKey of apiKeys) expect(container.env?.map(({ name }) => ({ env: name }))).toContainEqual(apiKey);
  });

  test('is jobs/nightly.yaml with the paths of the volume', () => {
    const nightly = readFileSync(`${ROOT}jobs/nightly.yaml`, 'utf8').replaceAll('../', '/data/');

    expect(parse(text)).toEqual(parse(nightly));
  });
});
