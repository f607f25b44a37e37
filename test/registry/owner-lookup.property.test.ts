import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatRowId } from '../../src/kinds/ids.js';
import { accountOfKind } from '../../src/plan/format/account-of.js';
import { type Plan, rowsFile } from '../../src/plan/format/plan-file.js';
import { describeReimport } from '../../src/registry/claim-rows.js';
import { OwnerLookup } from '../../src/registry/owner-lookup.js';
import type { PastRun } from '../../src/registry/read-runs.js';
import type { ReceivedRows } from '../../src/registry/received-rows.js';
import { RegistryState } from '../../src/registry/registry-state.js';
import { runsOf } from '../one-in.js';
import { aRowLine } from '../plan/a-row-line.js';
import { aMemoryDisk, type MemoryDisk } from '../storage/a-memory-disk.js';
import { ClaimsInPlans } from './claims-in-plans.js';

const kind = fc.constantFrom('sms', 'contacts');
const occurrence = fc.constantFrom('', '', '2026-11-21', 'again-2');
const service = fc.record({
  sandbox: fc.boolean(),
  account: fc.constant('acme'),
  subAccountId: fc.constant('acme_hq'),
  bases: fc.constant({ sms: 'https://sms', contacts: 'https://contacts' }),
});
/** Of files the rows: two have the same in other encodings, and one was re-imported. */
const ROWS: Readonly<Record<string, string | undefined>> = { c1: 'r1', c2: 'r2', c3: undefined, c4: 'r1' };
/** Of a run by its number, and of a step by its number, from 0. */
const anId = fc.record({ run: fc.nat(2), step: fc.nat(1), isPlanned: fc.boolean(), index: fc.nat(3) });
const aRow = fc.record({
  state: fc.constantFrom<'p' | 'r' | 's'>('p', 'p', 'r', 's'),
  from: fc.option(anId, { nil: undefined, freq: 2 }),
});
const aStep = fc.record({
  kind,
  inputs: fc.uniqueArray(fc.constantFrom('c1', 'c2', 'c3', 'c4'), {
    minLength: 1,
    maxLength: 2,
    selector: (content) => ROWS[content] ?? content,
  }),
  rows: fc.array(aRow, { minLength: 4, maxLength: 4 }),
});
const aRun = fc.record({
  state: fc.constantFrom<PastRun['state']>('planned', 'unfinished', 'finished', 'finished'),
  occurrence,
  service,
  retries: fc.option(fc.nat(5), { nil: undefined, freq: 1 }),
  steps: fc.array(aStep, { minLength: 1, maxLength: 2 }),
});
type ARun = typeof aRun extends fc.Arbitrary<infer T> ? T : never;
type AnId = typeof anId extends fc.Arbitrary<infer T> ? T : never;

const nameOf = (run: number) => `r0000000000${run}`;
const idOf = ({ run, step, isPlanned, index }: AnId) =>
  formatRowId({ run: nameOf(run), step: step + 1, isPlanned, index });

/** The plan of a run, as far as it is looked at here, with its rows on the disk: two of each file. A row has an id of a run before it. */
function writeRun(content: Record<string, string>, { steps, state, retries, ...run }: ARun, number: number): PastRun {
  const id = nameOf(number);
  const directory = `/out/sale/${id}`;
  const ofWhom = (from: AnId | undefined) => {
    if (from === undefined || from.run >= number) return undefined;
    if (retries === undefined) return from;
    return from.run === retries && from.isPlanned ? from : undefined;
  };
  const planned = steps.map((step, index) => {
    const rows = step.rows.slice(0, step.inputs.length * 2).map((row) => {
      return { ...row, from: row.state === 's' ? undefined : ofWhom(row.from) };
    });
    const count = (letter: string) => rows.filter((row) => row.state === letter).length;
    const at = { number: index + 1, kind: step.kind };
    const lines = rows.map(({ state: letter, from }, row) => {
      const about = { file: row >> 1, line: row + 2, row: (row & 1) + 1, from: from && idOf(from), cells: ['x'] };
      if (letter === 'p') return aRowLine({ ...about, state: 'planned', request: 1, facts: ['1'] });
      const rejection = { stage: 'read', field: '', code: 'bad-number', reason: 'r' } as const;
      if (letter === 'r') return aRowLine({ ...about, state: 'rejected', rejection });
      return aRowLine({ ...about, state: 'skipped', skip: { code: 'duplicate', reason: 'r' } });
    });
    const text = lines.join('');
    content[rowsFile(directory, at)] = text;
    const sha256 = createHash('sha256').update(text).digest('hex');
    const inputs = step.inputs.map((contentSha256, file) => {
      const fedFrom = rows
        .filter((_, row) => row >> 1 === file)
        .flatMap(({ from }) => (from ? [nameOf(from.run)] : []));
      const rowsSha256 = ROWS[contentSha256];
      return { file: contentSha256, contentSha256, rowsSha256, rows: 2, ...(fedFrom.length === 0 ? {} : { fedFrom }) };
    });
    return {
      ...at,
      inputs,
      counts: { read: rows.length, planned: count('p'), rejected: count('r'), requests: 1 },
      skips: {},
      files: { rows: { bytes: Buffer.byteLength(text), sha256 } },
    };
  });
  const retryOf =
    retries === undefined || retries >= number
      ? {}
      : { retryOf: { run: nameOf(retries), only: 'rejected', codes: [] } };
  const plan = {
    id,
    occurrence: run.occurrence,
    job: { service: run.service },
    steps: planned,
    ...retryOf,
  } as unknown as Plan;
  return { directory, plan, state };
}

/** As the runs noted it: each claims its rows before it begins, a retry as soon as it is made. */
async function registryOf(disk: MemoryDisk, history: readonly PastRun[]): Promise<RegistryState> {
  const registry = new RegistryState();
  for (const run of history) {
    const { id, steps, job, occurrence, retryOf } = run.plan;
    if (run.state === 'planned' && retryOf === undefined) continue;
    const about = { claims: registry.claims, history, at: 0 };
    for (const entry of await describeReimport(disk.files, run, about)) registry.claims.add(entry);
    if (run.state === 'planned') continue;
    const begun = {
      ...{ at: 0, name: id, planSha256: '', occurrence, retryOf: retryOf?.run ?? null },
      files: steps.flatMap(({ kind, number, inputs }) => {
        return inputs.map(({ file, contentSha256, rowsSha256 }) => ({
          file,
          kind,
          step: number,
          account: accountOfKind(job, kind),
          content: contentSha256,
          rows: rowsSha256 ?? null,
        }));
      }),
    };
    registry.put({ plan: id, begun });
  }
  return registry;
}

const received = { has: async () => false } as unknown as ReceivedRows;

test('the memory answers who has a row as a look at every plan of the job does, and still does so when plans are gone', async () => {
  const asked = fc.record({ kind, occurrence, service, id: anId, pick: fc.nat(50), isGone: fc.boolean() });
  let kept = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(aRun, { minLength: 4, maxLength: 6 }), asked, async (runs, ask) => {
      const content: Record<string, string> = {};
      const history = runs.map((run, number) => writeRun(content, run, number));
      const disk = aMemoryDisk(content);
      const registry = await registryOf(disk, history);
      const job = { service: ask.service, steps: [] };
      const plan = { id: 'r00000000009', occurrence: ask.occurrence, job } as unknown as Plan;
      const fed = runs.flatMap(({ steps }) => steps.flatMap(({ rows }) => rows.flatMap(({ from }) => from ?? [])));
      const of = fed[ask.pick % (fed.length + 1)] ?? ask.id;
      const [step, id] = [{ kind: ask.kind, number: of.step + 1 }, idOf(of)];
      const known = await (await new ClaimsInPlans(disk.files, { history, plan }).read()).planOf(ask.kind, id);
      const sources = { files: disk.files, registry, received };
      const { refusal } = await new OwnerLookup({ ...sources, history }, { plan }).find(step, id);
      const owner = /^Claimed by plan (\S+),/.exec(refusal?.kind === 'skipped' ? refusal.skip.reason : '')?.[1];
      expect(owner === undefined).toBe(known === undefined);
      if (known === undefined) return;
      const isGone = ask.isGone && nameOf(of.run) !== owner;
      const left = history.filter((run) => !isGone || run.plan.id !== owner);
      const after = await new OwnerLookup({ ...sources, history: left }, { plan }).find(step, id);
      expect(after.refusal).toBeDefined();
      if (isGone) kept += 1;
    }),
    { numRuns: runsOf(1500) },
  );
  expect(kept).toBeGreaterThan(0);
});
