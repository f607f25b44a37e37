import type { JobService } from '../../src/job/job.js';
import type { FindTaken } from '../../src/plan/inputs/select-inputs.js';
import type { PastRun } from '../../src/registry/read-runs.js';

/**
 * Which run took a file for a step of a kind. Plans that were never applied have taken nothing. Where the job repeats
 * its files per day (`occurrence` a date), only runs of that day count; where it always does (`again-…`), none.
 * What only the sandbox took has reached no one: it does not count for the service, nor the other way round. What another
 * account took, such as one for trials, does not count for this one.
 */
export function createFindTaken(
  history: readonly PastRun[],
  { occurrence, service }: { occurrence: string; service: AccountOfJob },
): FindTaken {
  const taken = new Map<string, string>();
  for (const { plan, state } of history) {
    // A plan that retries rows takes no file: the run that it has them from did.
    if (state === 'planned' || plan.retryOf !== undefined) continue;
    if (occurrence !== '' && plan.occurrence !== occurrence) continue;
    for (const step of plan.steps) {
      if (!isSameAccount(step.kind, plan.job.service, service)) continue;
      for (const input of step.inputs) taken.set(`${step.kind}\n${input.contentSha256}`, plan.id);
    }
  }
  return (kind, sha256) => taken.get(`${kind}\n${sha256}`);
}

type AccountOfJob = Pick<JobService, 'sandbox' | 'account' | 'accountId' | 'subAccountId'> & {
  readonly bases: Readonly<Record<'sms' | 'contacts', string>>;
};

/** By what the requests of a kind name. */
function isSameAccount(kind: string, one: AccountOfJob, other: AccountOfJob): boolean {
  const addressOf = ({ sandbox, bases }: AccountOfJob) => (sandbox ? '' : bases[kind === 'sms' ? 'sms' : 'contacts']);
  const nameOf = ({ account, accountId, subAccountId }: AccountOfJob) =>
    kind === 'sms' ? subAccountId : (accountId ?? account);
  return addressOf(one) === addressOf(other) && nameOf(one) === nameOf(other);
}
