import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accountOfKind } from '../../src/plan/format/account-of.js';
import type { Plan } from '../../src/plan/format/plan-file.js';
import type { RunRecord } from '../../src/plan/format/run-record.js';
import type { PastRun } from '../../src/registry/read-runs.js';
import { RegistryState } from '../../src/registry/registry-state.js';
import { runsOf } from '../one-in.js';
import { createFindTaken } from './find-taken-in-history.js';

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
function planOf(
  id: string,
  run: { occurrence: string; service: object; isRetry: boolean; files: readonly File[] },
): Plan {
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

interface File {
  readonly kind: string;
  readonly content: string;
}

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
