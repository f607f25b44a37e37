import type { Problem } from '../domain/errors.js';
import { accountOfKind } from '../plan/format/account-of.js';
import type { Plan } from '../plan/format/plan-file.js';
import { readAgain } from '../plan/occurrence.js';
import type { RegistryState } from './registry-state.js';

/**
 * Files of a plan that another run took after it was made: they would be sent twice. None of a plan that was begun, which took them
 * itself; a retry and a test take none. Pure.
 */
export function listTakenFiles(
  registry: RegistryState,
  { id, job, occurrence, steps, retryOf, testOf }: Plan,
): Problem[] {
  if (retryOf !== undefined || testOf !== undefined || registry.runs.has(id)) return [];
  return steps.flatMap(({ kind, inputs }) => {
    const scope = { account: accountOfKind(job, kind), occurrence };
    return inputs.flatMap(({ file, contentSha256, rowsSha256 }): Problem[] => {
      const digests = rowsSha256 === undefined ? [contentSha256] : [contentSha256, rowsSha256];
      const [run] = digests.flatMap((digest) => registry.listTakers(kind, digest, scope).slice(-1));
      return run === undefined ? [] : [{ where: file, message: `was taken by run ${run} since the plan was made` }];
    });
  });
}

/**
 * The run that a person had send files of a plan once more, by `--again`, after a moment: it has their rows since then. Undefined where
 * none did, and for a job that repeats on its own. Pure.
 */
export function findSentAgain(
  registry: RegistryState,
  { job, steps }: Plan,
  sinceMs: number,
): { readonly run: string; readonly file: string } | undefined {
  if (job.repeat === 'always') return undefined;
  for (const { kind, inputs } of steps) {
    for (const { file, contentSha256, rowsSha256 } of inputs) {
      const scope = { account: accountOfKind(job, kind), occurrence: '' };
      const takers = [contentSha256, rowsSha256].flatMap((digest) =>
        digest === undefined ? [] : registry.listTakers(kind, digest, scope),
      );
      const run = takers.findLast((id) => {
        const begun = registry.runs.get(id)?.begun;
        return begun !== undefined && begun.at > sinceMs && readAgain(begun.occurrence) > 1;
      });
      if (run !== undefined) return { run, file };
    }
  }
  return undefined;
}
