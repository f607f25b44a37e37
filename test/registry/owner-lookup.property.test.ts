import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accountOfKind } from '../../src/job/job.js';
import { atAnyTime, formatRowId, type RowId, readRowId } from '../../src/kinds/ids.js';
import { type Plan, rowsFile } from '../../src/plan/format/plan-file.js';
import { isSameOccurrence } from '../../src/plan/format/run-record.js';
import { fileIdsOf } from '../../src/plan/reimport/named-rows.js';
import { describeClaims } from '../../src/registry/claims.js';
import { JobRows } from '../../src/registry/job-rows.js';
import { OwnerLookup } from '../../src/registry/owner-lookup.js';
import type { PastRun } from '../../src/registry/read-runs.js';
import { RegistryState } from '../../src/registry/registry-state.js';
import { runsOf } from '../one-in.js';
import { aRowLine } from '../plan/a-row-line.js';
import { aMemoryDisk, type MemoryDisk } from '../storage/a-memory-disk.js';

/** The steps of every job: each stands where it stood. */
const UNCHANGED = Array.from({ length: 9 }, (_, place) => ({ kind: 'sms', place }));

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
/** A row by a run that read its file: by its number, a step by its number, and a row of the step, from 0. */
const anId = fc.record({ run: fc.nat(2), step: fc.nat(1), index: fc.nat(3) });
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
  retries: fc.option(fc.nat(2), { nil: undefined, freq: 1 }),
  steps: fc.array(aStep, { minLength: 1, maxLength: 2 }),
});
type ARun = typeof aRun extends fc.Arbitrary<infer T> ? T : never;
type AnId = typeof anId extends fc.Arbitrary<infer T> ? T : never;

const nameOf = (run: number) => `r0000000000${run}`;
/** The id of a row; undefined where the run has no such step, or file. */
function idOf(history: readonly PastRun[], { run, step, index }: AnId): string | undefined {
  const plan = history[run]?.plan;
  const planned = plan?.steps[step];
  const file = plan && planned && fileIdsOf(plan, planned)[index >> 1];
  return file && formatRowId({ file, row: (index & 1) + 1 });
}

/** The plan of a run, as far as it is looked at here, with its rows on the disk: two of each file. A row has an id of a run before it. */
function writeRun(
  content: Record<string, string>,
  { steps, state, retries, ...run }: ARun,
  history: readonly PastRun[],
): PastRun {
  const number = history.length;
  const id = nameOf(number);
  const directory = `/out/sale/${id}`;
  const planned = steps.map((step, index) => {
    const rows = step.rows.slice(0, step.inputs.length * 2).map((row) => {
      return { ...row, from: row.state === 's' ? undefined : fromOf(history, number, { retries, from: row.from }) };
    });
    const count = (letter: string) => rows.filter((row) => row.state === letter).length;
    const at = { number: index + 1, kind: step.kind };
    const lines = rows.map(({ state: letter, from }, row) => {
      const about = { file: row >> 1, line: row + 2, row: (row & 1) + 1, from, cells: ['x'] };
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
        .flatMap(({ from }) => readRowId(from ?? '')?.file ?? []);
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
    job: { service: run.service, steps: UNCHANGED },
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
    const about = { claims: registry.claims, at: 0, isBegun: false };
    for (const entry of await describeClaims(disk.files, run, about)) registry.claims.add(entry);
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

/** What each plan did with a row, by a look at all of them: the kind of its step, and its letter; the rows that it has from others are claimed. */
function listStates(runs: readonly ARun[], history: readonly PastRun[], isAsked: (id: string) => boolean) {
  return history.flatMap(({ plan, state }, number) =>
    plan.steps.map((step, at) => {
      const files = fileIdsOf(plan, step);
      const letters = (runs[number]?.steps[at]?.rows ?? []).slice(0, files.length * 2).map((row, index) => {
        const from =
          row.state === 's' ? undefined : fromOf(history, number, { retries: runs[number]?.retries, from: row.from });
        const own = formatRowId({ file: files[index >> 1] ?? '', row: (index & 1) + 1 });
        return isAsked(from ?? own) ? { letter: row.state, isFrom: from !== undefined } : undefined;
      });
      const found = letters.filter((each) => each !== undefined);
      const letter = found.some((each) => each.letter === 'p') ? 'p' : found.at(-1)?.letter;
      const isClaim = found.some((each) => each.isFrom && (each.letter === 'p' || plan.retryOf !== undefined));
      return { plan, state, kind: step.kind, files: plan.retryOf === undefined ? files : [], letter, isClaim };
    }),
  );
}

function isSameRow(id: string, occurrence: string): (other: string) => boolean {
  if (occurrence === '') return (other) => other === id;
  const nameOf = ({ file, row }: RowId) => `${atAnyTime(file)} ${row}`;
  const known = readRowId(id);
  return (other) => {
    const row = readRowId(other);
    return known !== undefined && row !== undefined && nameOf(row) === nameOf(known);
  };
}

/** What a plan did with a row; else with the same row of another time. */
function listOwn(
  lists: readonly ReturnType<typeof listStates>[],
  { plan, kind }: { plan: string | undefined; kind: string },
): ReturnType<typeof listStates> {
  const own = lists.map((states) =>
    states.filter((each) => each.plan.id === plan && each.kind === kind && each.letter !== undefined),
  );
  return own.find((states) => states.length > 0) ?? [];
}

/** A plan has rows of plans before it; one that retries another those of that one. */
function fromOf(
  history: readonly PastRun[],
  number: number,
  { retries = number, from }: { retries: number | undefined; from: AnId | undefined },
): string | undefined {
  if (from === undefined) return undefined;
  const row = retries < number ? { ...from, run: retries } : from;
  return row.run < number ? idOf(history, row) : undefined;
}

test('who has a row is who has it by a look at every plan of the job, and it stays so when plans are gone', async () => {
  // As one of the runs, and of the rows that this has from others.
  const asked = fc.record({ like: fc.nat(5), id: anId, pick: fc.nat(50), isGone: fc.boolean() });
  const seen = { kept: 0, claimed: 0, taken: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(aRun, { minLength: 4, maxLength: 6 }), asked, async (runs, ask) => {
      const content: Record<string, string> = {};
      const history: PastRun[] = [];
      for (const run of runs) history.push(writeRun(content, run, history));
      const disk = aMemoryDisk(content);
      const registry = await registryOf(disk, history);
      const like = runs[ask.like % runs.length]!;
      const { occurrence, service } = like;
      const [{ kind, rows }] = like.steps as [typeof aStep extends fc.Arbitrary<infer T> ? T : never];
      const plan = { id: 'r00000000009', occurrence, job: { service, steps: UNCHANGED } } as unknown as Plan;
      const number = ask.like % runs.length;
      const fed = rows.flatMap(({ from }) => fromOf(history, number, { retries: like.retries, from }) ?? []);
      const id = fed[ask.pick % (fed.length + 1)] ?? idOf(history, ask.id);
      if (id === undefined) return;
      const { file = '' } = readRowId(id) ?? {};
      const step = { kind, number: ask.id.step + 1 };
      const find = async (left: readonly PastRun[]) =>
        (await new OwnerLookup(new JobRows(disk.files, registry, left), plan).find(step, id)).refusal;

      const refusal = await find(history);

      const states = listStates(runs, history, (each) => each === id);
      // Of rows that come back each time a claim of that time counts, however often the file was sent.
      const atThatTime = listStates(runs, history, isSameRow(id, occurrence));
      const isOfAccount = (of: Plan, kind: string) => accountOfKind(of.job, kind) === accountOfKind(plan.job, kind);
      const claims = atThatTime.filter((each) => {
        const isBegun = each.state !== 'planned' || each.plan.retryOf !== undefined;
        const isOfTime = occurrence === '' || isSameOccurrence(each.plan.occurrence, occurrence);
        return isBegun && isOfTime && each.isClaim && each.kind === kind && isOfAccount(each.plan, kind);
      });
      const owner = claims.at(-1)?.plan.id;
      const own = listOwn([states, atThatTime], { plan: owner, kind });
      const takers = states.filter(
        (each) => each.state !== 'planned' && each.files.includes(file) && isOfAccount(each.plan, each.kind),
      );
      if (owner !== undefined) {
        const isFree = own.every(({ letter, state }) => letter === 'r' && state !== 'planned');
        // One that is free may still be that of another step.
        const isOfOtherStep = JSON.stringify(refusal ?? null).includes('read the same row');
        expect(refusal === undefined).toBe(isFree && !isOfOtherStep);
        if (!isFree) expect(JSON.stringify(refusal)).toContain(owner);
        seen.claimed += 1;
      } else if (takers.some(({ letter }) => letter !== 'r' && letter !== undefined)) {
        expect(refusal).toBeDefined();
        seen.taken += 1;
      }
      const who = owner ?? takers.at(-1)?.plan.id;
      if (!ask.isGone || who === undefined) return;
      expect(await find(history.filter((run) => run.plan.id !== who))).toBeDefined();
      seen.kept += 1;
    }),
    { numRuns: runsOf(1500) },
  );
  expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
});
