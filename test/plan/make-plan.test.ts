import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRecords } from '../../src/input/read-records.js';
import { digestContent, digestInput } from '../../src/input/text/byte-source.js';
import type { InputReader } from '../../src/plan/plan-deps.js';
import { aMemoryDisk, type MemoryDisk } from '../storage/a-memory-disk.js';
import { aContactsStep, aCsvOf, aFolder, anInput, anSmsStep, aPlan, makeAPlan, refusalOf } from './a-plan.js';

describe('a plan that is refused', () => {
  it('leaves no directory', async () => {
    const disk = aMemoryDisk();
    await refusalOf({ disk, files: { 'people.csv': 'name\nAnn\n' } });
    expect(disk.list('/out/sale')).toEqual([]);
  });

  it('names the problems of all files and all steps at once', async () => {
    const steps = [
      aContactsStep({ input: anInput({ files: ['a.csv', 'b.csv'] }), fields: { msisdn: 'phone' } }),
      anSmsStep({ input: anInput({ files: ['a.csv', 'missing.csv'] }), text: 'Hi {{ nick }} {{ town }}' }),
      anSmsStep({ input: anInput({ files: ['c.csv'] }), destination: 'handy' }),
    ];
    const files = { 'a.csv': aCsvOf(1), 'b.csv': 'phone,phone\n1,2\n', 'c.csv': 'mobile,name\n"+6590000000,Ann\n' };
    const problems = (await refusalOf({ job: { steps }, files })).problems.join('\n');
    for (const said of [
      /^a\.csv:1: fields\.msisdn: no column matches 'phone'/m,
      /^b\.csv:1: fields\.msisdn: the job names the column "phone", and 2 columns have this name, expected one/m,
      /^missing\.csv: there is no such file/m,
      /^c\.csv/m,
    ])
      expect(problems).toMatch(said);
  });

  it('names the problems of one file at once: every column that is not there', async () => {
    const text = 'Hi {{ nick }} {{ town }}';
    const step = anSmsStep({ input: anInput({ countryColumn: 'land' }), destination: 'handy', text });
    const { problems, error } = await refusalOf({ job: { steps: [step] } });
    expect(problems).toEqual([
      expect.stringContaining("destination: no column matches 'handy'; columns: mobile, name"),
      expect.stringContaining("input.countryColumn: no column matches 'land'"),
      expect.stringContaining('Cannot fill {{ nick }}'),
      expect.stringContaining('Cannot fill {{ town }}'),
    ]);
    expect(error).toMatchObject({ code: 'bad-input', message: 'Cannot plan the job: there are 4 problems' });
    expect(error.hint).toContain('Nothing was sent');
  });

  it('says so of a file that changes between its digest and its reading', async () => {
    const files = aFolder({ 'people.csv': aCsvOf(3) });
    const digestEarlier = async (path: string) => {
      const bytes = Buffer.from(aCsvOf(3));
      appendFileSync(path, '+6590000009,late\n');
      return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
    };
    const disk = aMemoryDisk();
    const { problems } = await refusalOf({ disk, files, reader: { digestInput: digestEarlier } });
    expect(problems).toEqual(['people.csv: the file changed while it was read']);
    expect(disk.list('/out/sale')).toEqual([]);
  });

  it('is refused as interrupted when its signal aborts, and leaves nothing', async () => {
    const disk = aMemoryDisk();
    expect((await refusalOf({ disk, signal: AbortSignal.abort() })).error.code).toBe('interrupted');
    expect(disk.list('/out/sale')).toEqual([]);
  });
});

it('a disk that fails while the plan is written leaves no plan that is not whole, whichever operation it is; the next attempt makes the plan', async () => {
  const files = aFolder({ 'people.csv': aCsvOf(5) });
  const job = { steps: [anSmsStep({ batchSize: 2 })] };
  const whole = await aPlan({ files, job });
  const expected = whole.disk.snapshot(whole.directory);
  const count = whole.disk.operations;
  expect(count).toBeGreaterThan(15);
  for (let n = 1; n <= count; n++) {
    const disk = aMemoryDisk();
    disk.failAt(n, 'ENOSPC');
    const outcome = await makeAPlan({ files, job, disk }).then(
      () => 'made',
      (error: unknown) => error,
    );
    if (disk.has(`${whole.directory}/plan.json`)) expect(disk.snapshot(whole.directory)).toEqual(expected);
    else expect(outcome, `operation ${n}`).toMatchObject({ code: 'ENOSPC' });
    const again = await aPlan({ files, job, disk });
    expect(disk.snapshot(again.directory)).toEqual(expected);
    expect(disk.list('/out/sale')).toEqual([basename(whole.directory)]);
  }
});

describe('what a job already took', () => {
  const job = { steps: [anSmsStep({ input: anInput({ files: ['*.csv'] }) })] };

  it('is left out, with the run that took it, and new files alone are planned', async () => {
    const files = aFolder({ 'a.csv': aCsvOf(2), 'b.csv': aCsvOf(1, 5) });
    const first = await aPlan({ files, job });
    const [taken] = first.step.inputs;
    const findTaken = (kind: string, sha256: string) =>
      kind === 'sms' && sha256 === taken?.sha256 ? 'the-first-run' : undefined;
    const { made, leftOut } = await makeAPlan({ files, job, findTaken });
    expect(leftOut).toEqual([{ file: 'a.csv', reason: 'was already sent by run the-first-run', run: 'the-first-run' }]);
    expect(made?.plan.steps[0]?.inputs.map(({ file }) => file)).toEqual(['b.csv']);
  });

  it('and nothing else is no plan', async () => {
    const disk = aMemoryDisk();
    const { made, leftOut } = await makeAPlan({ disk, job, findTaken: () => 'r1' });
    expect(made).toBeUndefined();
    expect(leftOut).toHaveLength(1);
    expect(disk.list('/out/sale')).toEqual([]);
  });

  it('is known by its content: a copy under another name is taken once', async () => {
    const { made, leftOut } = await makeAPlan({ job, files: { 'a.csv': aCsvOf(2), 'b.csv': aCsvOf(2) } });
    expect(made?.plan.steps[0]?.inputs.map(({ file }) => file)).toEqual(['a.csv']);
    expect(leftOut).toEqual([{ file: 'b.csv', reason: 'has the same content as a.csv' }]);
    // Of files without content each is named: each must be put right.
    const { problems } = await refusalOf({ job, files: { 'a.csv': '', 'b.csv': '' } });
    expect(problems).toEqual(['a', 'b'].map((name) => `${name}.csv: the file is empty, expected rows`));
  });

  it('by one kind of step is still new to another', async () => {
    const both = { steps: [aContactsStep(), anSmsStep()] };
    const { made } = await makeAPlan({ job: both, findTaken: (kind) => (kind === 'contacts' ? 'r1' : undefined) });
    expect(made?.plan.steps.map(({ counts }) => counts.planned)).toEqual([0, 3]);
  });
});

describe('standard input', () => {
  const job = { steps: [anSmsStep({ input: anInput({ files: ['-'] }) })] };

  /** Standard input with this text, which the reader finds on the real disk. */
  function standardInput(disk: MemoryDisk, text: string): Partial<InputReader> {
    const real = join(aFolder({ stdin: text }), 'stdin');
    return {
      spoolStandardInput: async (path) => disk.write(path, text),
      digestInput: () => digestInput(real),
      digestContent: () => digestContent(real),
      readRecords: (file, input) => readRecords({ ...file, path: real }, input),
    };
  }

  it('is kept in the run directory, where the plan says it is', async () => {
    const disk = aMemoryDisk();
    const { plan, step, directory } = await aPlan({ disk, job, reader: standardInput(disk, aCsvOf(2)) });
    expect(step.inputs).toMatchObject([{ file: 'standard input', path: `${directory}/stdin`, rows: 2 }]);
    expect(disk.readText(`${directory}/stdin`)).toBe(aCsvOf(2));
    expect(disk.list('/out/sale')).toEqual([`2026-12-28T0000-${plan.id}`]);
  });

  it('that is refused is kept nowhere', async () => {
    const disk = aMemoryDisk();
    expect((await refusalOf({ disk, job, reader: standardInput(disk, 'name\nAnn\n') })).problems).toHaveLength(1);
    expect(disk.list('/out/sale')).toEqual([]);
  });
});
