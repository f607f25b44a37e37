import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accountOfKind, type JobService } from '../../src/job/job.js';
import type { Plan } from '../../src/plan/format/plan-file.js';
import type { RunRecord } from '../../src/plan/format/run-record.js';
import type { PastRun } from '../../src/registry/read-runs.js';
import { RegistryState } from '../../src/registry/registry-state.js';
import { runsOf } from '../one-in.js';

const kind = fc.constantFrom('sms', 'contacts');
const content = fc.constantFrom('c1', 'c2', 'c3');
const occurrence = fc.constantFrom('', '2026-11-21', '2026-11-22', 'again-2', 'again-3');
const service = fc.record({
  sandbox: fc.boolean(),
  account: fc.constantFrom('acme', 'umbrella'),
  accountId: fc.constantFrom(undefined, 'a1'),
  subAccountId: fc.constantFrom('acme_hq', 'acme_sg'),
  bases: fc.record({ sms: fc.constantFrom('https://sms', 'https://sms-2'), contacts: fc.constant('https://contacts') }),
});
const BASES = { sms: 'https://sms', contacts: 'https://contacts' };
const aRun = fc.record({
  state: fc.constantFrom<PastRun['state']>('planned', 'unfinished', 'finished'),
  occurrence,
  service,
  isRetry: fc.boolean(),
  files: fc.array(fc.record({ kind, content }), { maxLength: 3 }),
});

/** As far as it is looked at here. */
function planOf(id: string, run: { occurrence: string; service: object; isRetry: boolean; files: readonly File[] }) {
  return {
    id,
    occurrence: run.occurrence,
    job: { service: run.service },
    ...(run.isRetry ? { retryOf: { run: 'other', only: 'rejected', codes: [] } } : {}),
    steps: run.files.map((file, index) => {
      return { number: index + 1, kind: file.kind, inputs: [{ file: 'people.csv', contentSha256: file.content }] };
    }),
  } as unknown as Plan;
}

type File = Readonly<{ kind: string; content: string }>;

function begunOf({ id, occurrence, job, retryOf, steps }: Plan): RunRecord {
  const begun = {
    at: 0,
    name: id,
    planSha256: '',
    occurrence,
    retryOf: retryOf?.run ?? null,
    files: steps.flatMap(({ kind, number, inputs }) =>
      inputs.map(({ file, contentSha256 }) => {
        const account = accountOfKind(job, kind);
        return { file, kind, step: number, account, content: contentSha256, rows: null };
      }),
    ),
  };
  return { plan: id, begun };
}

/**
 * Which run took a file for a step of a kind. Plans that were never applied have taken nothing. Where the job repeats
 * its files per day (`occurrence` a date), only runs of that day count; where it always does (`again-…`), none.
 * What only the sandbox took has reached no one: it does not count for the service, nor the other way round. What another
 * account took, such as one for trials, does not count for this one.
 */
function createFindTaken(
  history: readonly PastRun[],
  { occurrence, service }: { occurrence: string; service: AccountOfJob },
): (kind: string, content: string) => string | undefined {
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
  return (kind, content) => taken.get(`${kind}\n${content}`);
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

test('the memory answers who took a file as a look at every plan of the job does', () => {
  fc.assert(
    fc.property(
      fc.array(aRun, { maxLength: 8 }),
      kind,
      content,
      occurrence,
      service,
      (runs, kind, content, occurrence, service) => {
        const history = runs.map((run, index): PastRun => {
          const id = `run${index}`;
          return { directory: `/out/sale/${id}`, plan: planOf(id, run), state: run.state };
        });
        const state = new RegistryState();
        for (const { plan, state: reached } of history) if (reached !== 'planned') state.put(begunOf(plan));
        const account = accountOfKind({ service } as Plan['job'], kind);
        expect(state.listTakers(kind, [content], { account, occurrence }).at(-1)).toBe(
          createFindTaken(history, { occurrence, service })(kind, content),
        );
      },
    ),
    { numRuns: runsOf(2000) },
  );
});

test.each([
  ['', 'again-1'],
  ['again-1', ''],
  ['again-1', 'again-1'],
])('a run of %j has taken its files for %j: both are the first time', (taken, asked) => {
  const service = { sandbox: false, account: 'acme', subAccountId: 'acme_hq', bases: BASES };
  const plan = planOf('run1', { occurrence: taken, service, isRetry: false, files: [{ kind: 'sms', content: 'c1' }] });
  const state = new RegistryState();
  state.put(begunOf(plan));
  expect(state.listTakers('sms', ['c1'], { account: accountOfKind(plan.job, 'sms'), occurrence: asked })).toEqual([
    'run1',
  ]);
});
