import { describe, expect, test } from 'vitest';
import { EXIT } from '../../../src/report/exit-code.js';
import { lastOf, readDockerfile } from '../dockerfile.js';
import { listWorkloads, type Workload } from './manifest.js';
import { listOverlays, readOverlay } from './read-overlay.js';

const [nightly, worker, migration] = (
  [
    ['nightly', 'volley-nightly'],
    ['cluster/nightly-workers', 'volley-workers'],
    ['migration', 'volley-migration'],
  ] as const
).map(
  ([overlay, name]) => listWorkloads(readOverlay(overlay)).find(({ manifest }) => manifest.metadata.name === name)!,
) as [Workload, Workload, Workload];
const everyJob = listOverlays()
  .flatMap((overlay) => listWorkloads(readOverlay(overlay)))
  .filter(({ job }) => job !== undefined);

/** What Kubernetes does with a pod that ends so: the first rule that fits, else it counts. */
function decide({ job }: Workload, exitCode: number, isDisrupted = false): string {
  const rule = job?.podFailurePolicy?.rules.find(
    ({ onExitCodes, onPodConditions }) =>
      onExitCodes?.values.includes(exitCode) ||
      (isDisrupted && onPodConditions?.some(({ type, status }) => type === 'DisruptionTarget' && status === 'True')),
  );
  return rule?.action ?? 'Count';
}

function decideAll(workload: Workload): object {
  const failures = Object.entries(EXIT).filter(([name]) => name !== 'ok');
  return Object.fromEntries(failures.map(([name, code]) => [name, decide(workload, code)]));
}

describe('failed pods', () => {
  test('are tried again after exit code 75 alone of those of Volley', () => {
    const expected = {
      rejected: 'FailJob',
      notStarted: 'FailJob',
      inDoubt: 'FailJob',
      stopped: 'FailJob',
      again: 'Count',
    };

    expect(decideAll(nightly)).toEqual(expected);
    expect(decideAll(migration)).toEqual(expected);
  });

  test('fail a worker alone where another would end in the same way, and not the others', () => {
    expect(decideAll(worker)).toMatchObject({ notStarted: 'FailIndex', stopped: 'FailIndex', again: 'Count' });
  });

  test('are tried again after a crash', () => {
    for (const workload of everyJob)
      expect([134, 137, 139, 143].map((code) => decide(workload, code))).toEqual(['Count', 'Count', 'Count', 'Count']);
  });

  test('do not count when the node is drained, unless the run had ended', () => {
    for (const workload of everyJob)
      expect([EXIT.again, 137].map((code) => decide(workload, code, true))).toEqual(['Ignore', 'Ignore']);
    expect(decide(nightly, EXIT.inDoubt, true)).toBe('FailJob');
  });
});

test('the nightly job keeps all that it has when workers share it', () => {
  const leader = listWorkloads(readOverlay('cluster/leader')).find(({ cron }) => cron?.suspend !== true);
  const { env = [], volumeMounts: mounts = [], args = [], ...container } = nightly.container;
  expect(leader?.container).toMatchObject(container);
  expect(leader?.container.args).toEqual(args.map((arg) => arg.replace('nightly.yaml', 'nightly-shared.yaml')));
  expect(leader?.container.env).toEqual(expect.arrayContaining(env));
  expect(leader?.container.volumeMounts).toEqual(expect.arrayContaining(mounts));
  const expected = { ...nightly.pod, containers: [], volumes: expect.arrayContaining(nightly.pod.volumes ?? []) };
  expect({ ...leader?.pod, containers: [] }).toEqual(expected);
});

test('every pod runs as the user of the image', () => {
  const user = lastOf(readDockerfile().at(-1)!, 'USER');
  for (const { pod } of everyJob)
    expect(`${pod.securityContext?.runAsUser}:${pod.securityContext?.runAsGroup}`).toBe(user);
});
