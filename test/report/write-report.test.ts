import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { InternalError } from '../../src/domain/errors.js';
import { JOURNAL_VERSION } from '../../src/journal/entry-format.js';
import { PLAN_FORMAT } from '../../src/plan/format/plan-file.js';
import { fileIdsOf } from '../../src/plan/reimport/named-rows.js';
import { MEMORY_FORMAT } from '../../src/registry/memory-file.js';
import { describeRun } from '../../src/report/page/report-page.js';
import { settleRows } from '../../src/settle/settle-rows.js';
import {
  aContactsStep,
  aCsvOf,
  aNumber,
  anInput,
  anSmsStep,
  aPlan,
  aPlanOfBatches,
  linesOf,
  type MadePlan,
  someLimits,
} from '../plan/a-plan.js';
import {
  aRun,
  aScriptedService,
  batchAnswer,
  cutJournal,
  failure,
  reportOf,
  response,
  type Script,
} from '../run/a-run.js';
import { loseSecond } from '../settle/a-run-in-doubt.js';
import { depsOf, lockedRun, withLock } from '../settle/an-export.js';
import { aReceiptLine, receive } from './some-receipts.js';

const OUTPUTS = ['results', 'rejections', 'skipped', 'in-doubt', 'unprocessed'] as const;
const one = someLimits({ concurrency: 1 });

/** Lines of each output of step 1, without the header. */
function outputsOf({ disk, directory, step }: MadePlan, format = 'csv') {
  const read = (name: string) => linesOf(disk.readText(`${directory}/1-${step.kind}.${name}.${format}`));
  return Object.fromEntries(OUTPUTS.map((name) => [name, read(name).slice(format === 'csv' ? 1 : 0)]));
}

/** Row 1 accepted, 2 rejected by us, 3 a duplicate, 4 rejected by the service, 5 in doubt, 6 refused as a request, 7 never sent. */
async function oneOfEach(job = {}) {
  const numbers = [aNumber(0), 'nope', aNumber(0), aNumber(3), aNumber(4), aNumber(5), aNumber(6)];
  const files = {
    'people.csv': `mobile,name\n${numbers.map((number, index) => `${number},"n, ${index}"\n`).join('')}`,
  };
  const steps = [anSmsStep({ batchSize: 1, limits: one })];
  const made = await aPlan({ files, job: { steps, ...job } });
  const script: Script = (sent) => {
    const { messages, ...answer } = batchAnswer(sent);
    const status = { code: 'REJECTED', description: 'Text value is missing' };
    switch (sent.rows[0]) {
      case 1:
        return response(200, { ...answer, messages: messages.map((each) => ({ ...each, status })) });
      case 2:
        return failure(true);
      case 3:
        return response(400, { code: 1002, message: 'Invalid MSISDN' });
      case 4:
        return response(401, { code: 1200, message: 'Unauthorized' });
      default:
        return undefined;
    }
  };
  await aRun({ made, service: aScriptedService(script) });
  return made;
}

describe('outputs of a step', () => {
  it('hold every row of the input exactly once, by what came of it', async () => {
    const made = await oneOfEach();
    const summary = await reportOf(made);
    const id = (row: number) => `${made.plan.id}-1-${row}`;
    const rowId = (row: number) => `${fileIdsOf(made.plan, made.step)[0]}-${row}`;
    const place = (row: number) => `1,people.csv,${row + 1},${row}`;
    expect(outputsOf(made)).toEqual({
      results: [`${place(1)},QUEUED,u-${id(0)},${id(0)},b,${aNumber(0)},1,SMS is accepted,${aNumber(0)},"n, 0"`],
      rejections: [
        expect.stringMatching(new RegExp(`^nope,"n, 1",${place(2)},normalize,mobile,not-a-number,`)),
        `${aNumber(3)},"n, 3",${place(4)},send,,REJECTED,Text value is missing,${rowId(4)}`,
        `${aNumber(5)},"n, 5",${place(6)},send,,1002,Invalid MSISDN,${rowId(6)}`,
      ],
      skipped: [expect.stringMatching(new RegExp(`^\\${aNumber(0)},"n, 2",${place(3)},duplicate,`))],
      'in-doubt': [
        expect.stringMatching(
          new RegExp(`^\\${aNumber(4)},"n, 4",${place(5)},no-answer,.*,,${id(2)},,\\${aNumber(4)},1,"Sent, .*$`),
        ),
      ],
      unprocessed: [`${aNumber(6)},"n, 6",${place(7)},,,,${id(4)},,${aNumber(6)},1,`],
    });
    expect(summary.balance).toEqual({ read: 7, accepted: 1, rejected: 3, skipped: 1, inDoubt: 1, unprocessed: 1 });
    expect(summary.steps[0]?.rejections).toEqual({ 'not-a-number': 1, REJECTED: 1, 1002: 1 });
    expect(summary.program?.formats).toEqual({ plan: PLAN_FORMAT, journal: JOURNAL_VERSION, memory: MEMORY_FORMAT });
  });

  it('in NDJSON say the same', async () => {
    const made = await oneOfEach({ output: { directory: '/out', format: 'ndjson' } });
    await reportOf(made);
    const { results, unprocessed } = outputsOf(made, 'ndjson');
    const expected = { _step: 1, _line: 2, _row: 1, _status: 'QUEUED', mobile: aNumber(0), name: 'n, 0' };
    expect(JSON.parse(results![0]!)).toMatchObject(expected);
    expect(JSON.parse(unprocessed![0]!)).toMatchObject({ _row: 7, mobile: aNumber(6), _umid: '' });
  });

  it('without rows have their header', async () => {
    const made = await aPlan();
    await aRun({ made });
    await reportOf(made);
    const headers = OUTPUTS.map((name) => made.disk.readText(`${made.directory}/1-sms.${name}.csv`).split('\n')[0]);
    expect(headers).toEqual([
      '_step,_file,_line,_row,_status,_umid,_clientMessageId,_batchId,_destination,_segments,_description,mobile,name',
      'mobile,name,_step,_file,_line,_row,_stage,_field,_code,_reason,_rowId',
      'mobile,name,_step,_file,_line,_row,_code,_reason',
      'mobile,name,_step,_file,_line,_row,_code,_reason,_umid,_clientMessageId,_batchId,_destination,_segments,_description',
      'mobile,name,_step,_file,_line,_row,_code,_reason,_umid,_clientMessageId,_batchId,_destination,_segments,_description',
    ]);
  });

  it('of files with different columns put each cell in its column', async () => {
    const files = { 'a.csv': 'mobile,name\nx,Ann\n', 'b.csv': 'town;Mobile\nBedok;y\n' };
    const made = await aPlan({ files, job: { steps: [anSmsStep({ input: anInput({ files: ['*.csv'] }) })] } });
    await reportOf(made);
    const { rejections } = outputsOf(made);
    expect(rejections?.map((line) => line.split(',').slice(0, 5))).toEqual([
      ['x', 'Ann', '', '1', 'a.csv'],
      ['y', '', 'Bedok', '1', 'b.csv'],
    ]);
  });

  it('made of files with different headers can be read back as one, which sends the fixed rows', async () => {
    const files = { 'a.csv': 'mobile,name\nx,Ann\n', 'b.csv': 'Name;MOBILE\nBea;y\n' };
    const step = anSmsStep({ text: 'Hi {{ name }}', input: anInput({ files: ['*.csv'] }) });
    const made = await aPlan({ files, job: { steps: [step] } });
    await reportOf(made);
    const written = made.disk.readText(`${made.directory}/1-sms.rejections.csv`);
    const fixed = written.replace(/^x/m, aNumber(1)).replace(/^y/m, aNumber(2));
    const again = await aPlan({ files: { 'fixed.csv': fixed }, job: { steps: [step] } });
    expect(again.step.columns).toEqual(['mobile', 'name']);
    expect(again.requests[0]?.json.messages).toMatchObject([
      { destination: aNumber(1), text: 'Hi Ann' },
      { destination: aNumber(2), text: 'Hi Bea' },
    ]);
  });

  it('join the parts of requests that were split to the right rows', async () => {
    const bad = [0, 5, 6, 11];
    const made = await aPlanOfBatches(12, { batchSize: 7 });
    const service = aScriptedService(({ rows }) =>
      rows.some((row) => bad.includes(row)) ? response(400, { code: 1002, message: 'Invalid MSISDN' }) : undefined,
    );
    await aRun({ made, service });
    await reportOf(made);
    const { results, rejections } = outputsOf(made);
    expect(rejections?.map((line) => line.split(',')[1])).toEqual(bad.map((row) => `n${row}`));
    for (const line of results ?? []) {
      const cells = line.split(',');
      const row = Number(cells.at(-1)?.slice(1));
      expect([cells[5], cells[6]]).toEqual([`u-${made.plan.id}-1-${row}`, `${made.plan.id}-1-${row}`]);
    }
  });
});

describe('a report', () => {
  it('made again is the same, byte for byte', async () => {
    const made = await oneOfEach();
    await reportOf(made);
    const first = made.disk.snapshot(made.directory);
    await reportOf(made);
    expect(made.disk.snapshot(made.directory)).toEqual(first);
  });

  it('of a plan that was never applied has every row to be sent as unprocessed', async () => {
    const made = await aPlan({ files: { 'people.csv': `${aCsvOf(2)}nope,x\n` } });
    const summary = await reportOf(made);
    expect(summary).toMatchObject({ state: 'planned', stop: null, startedAt: null, endedAt: null });
    expect(summary.balance).toMatchObject({ read: 3, rejected: 1, unprocessed: 2 });
    expect(made.disk.has(`${made.directory}/journal.ndjson`)).toBe(false);
  });

  it.each([
    ['sms', anSmsStep({ limits: one, batchSize: 1 }), 'in-doubt'],
    ['contacts', aContactsStep({ limits: one }), 'unprocessed'],
  ] as const)(
    'holds what was in flight of %s, when the process died, to be as it would be resumed',
    async (_kind, step, output) => {
      const made = await aPlan({ job: { steps: [step] } });
      await aRun({ made });
      cutJournal(made, 2);
      const summary = await reportOf(made);
      expect(summary).toMatchObject({ state: 'unfinished', exitCode: 75 });
      expect(outputsOf(made)[output]?.[0]).toContain(aNumber(0));
      expect(summary.balance).toMatchObject(
        output === 'in-doubt' ? { inDoubt: 1, unprocessed: 2 } : { inDoubt: 0, unprocessed: 3 },
      );
    },
  );

  it('counts what was taken back also where other rows were not sent for three commoner reasons', async () => {
    const made = await loseSecond(await aPlanOfBatches(14, { batchSize: 7 }));
    const codes = ['opted-out', 'had-it-already', 'too-often'] as const;
    const findProof = async ({ row }: { row: number }) => {
      const code = row === 13 ? 'cancelled' : codes[row % 3]!;
      return { verdict: { status: 'not-sent', code, reason: '' }, ids: [] } as const;
    };
    await withLock(made, async (lock) =>
      settleRows(await lockedRun(made, lock), { by: 'test', findProof }, depsOf(made)),
    );
    const summary = await reportOf(made);
    expect(describeRun(summary, made.plan).join(' ')).toMatch(
      /opted out meanwhile, 1 row taken back on .*, 4 rows not sent/,
    );
  });

  it('is written to summary.json as it is returned', async () => {
    const made = await oneOfEach();
    const summary = await reportOf(made);
    expect(JSON.parse(made.disk.readText(`${made.directory}/summary.json`))).toEqual(summary);
    expect(summary).toMatchObject({ state: 'stopped', stop: { reason: 'unauthorized' }, exitCode: 4 });
  });

  it('in which a row is missing, or stands twice, is an internal error', async () => {
    const { plan, ...rest } = await oneOfEach();
    const path = `${rest.directory}/1-sms.rows.ndjson`;
    const lines = linesOf(rest.disk.readText(path));
    for (const damaged of [lines.slice(0, -1), lines.filter((_, index) => index !== 1), [...lines, lines.at(-1)!]]) {
      const text = `${damaged.join('\n')}\n`;
      rest.disk.write(path, text);
      // Of a plan that was written so: else its digests find it first.
      const rows = { bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') };
      const steps = plan.steps.map(({ files, ...step }) => ({ ...step, ...(files && { files: { ...files, rows } }) }));
      await expect(reportOf({ ...rest, plan: { ...plan, steps } })).rejects.toThrow(
        expect.objectContaining({ code: 'unbalanced' }),
      );
    }
    expect(new InternalError('unbalanced', '')).toBeInstanceOf(Error);
  });

  it('that the disk fails leaves the outputs of the report before it, with the deliveries', async () => {
    const made = await oneOfEach();
    receive(made, aReceiptLine(made, 0));
    await reportOf(made);
    const before = made.disk.snapshot(made.directory);
    const start = made.disk.operations;
    await reportOf(made);
    const count = made.disk.operations - start;
    for (let n = 1; n <= count; n += 3) {
      made.disk.failAt(n, 'ENOSPC');
      await expect(reportOf(made), `operation ${n}`).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(
        Object.fromEntries(
          Object.entries(made.disk.snapshot(made.directory)).filter(([name]) => !name.endsWith('.part')),
        ),
      ).toEqual(before);
    }
    await reportOf(made);
    expect(made.disk.snapshot(made.directory)).toEqual(before);
  });
});

it('outputs say nothing that the journal might forget: it is synced before the first of them is written', async () => {
  const made = await aPlan({ files: { 'people.csv': aCsvOf(3) } });
  await aRun({ made });
  const operations: string[] = [];
  made.disk.onOperation = (operation) => operations.push(operation);
  await reportOf(made);
  const first = (begin: string) => operations.findIndex((operation) => operation.startsWith(begin));
  expect(first(`datasync ${made.directory}/journal.ndjson`)).toBeGreaterThan(-1);
  expect(first(`datasync ${made.directory}/journal.ndjson`)).toBeLessThan(first(`write ${made.directory}/1-sms`));
});
