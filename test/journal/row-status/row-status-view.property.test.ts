import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeLine } from '../../../src/journal/entry-format.js';
import { readRowStatus } from '../../../src/journal/read-row-status.js';
import type { RowStatusView } from '../../../src/journal/row-status/row-status-view.js';
import type { Plan } from '../../../src/plan/format/plan-file.js';
import { InDoubtRows } from '../../../src/registry/in-doubt-rows.js';
import { RetryRows } from '../../../src/registry/retry-rows.js';
import { SentRecord } from '../../../src/registry/sent-record.js';
import type { Files } from '../../../src/storage/files.js';
import { JOURNAL_PATH, memoryFiles } from '../builders.js';
import { anyJournal, type JournalModel, type ModelRow, SIZES } from './a-journal.js';

async function readModel({ entries }: JournalModel): Promise<{ files: Files; rows: RowStatusView }> {
  const lines = entries.map((entry, at) => encodeLine({ epoch: 1, seq: at + 1, durable: at, entry }));
  const files = memoryFiles({ [JOURNAL_PATH]: Buffer.concat(lines) });
  const { rows } = await readRowStatus(files, JOURNAL_PATH, { steps: SIZES, keepsPlaces: true });
  return { files, rows };
}

function* listRows({ rows }: JournalModel): Generator<{ step: number; row: number; model: ModelRow }> {
  for (const [at, of] of rows.entries()) for (const [row, model] of of.entries()) yield { step: at + 1, row, model };
}

test('the view of a run agrees with a plain model about every row, whatever the journal', async () => {
  await fc.assert(
    fc.asyncProperty(anyJournal, async (model) => {
      const { rows } = await readModel(model);
      const all = [...listRows(model)];
      for (const { step, row, model: is } of all) {
        expect(rows.standingOf(step, row)).toBe(is.movedTo === undefined ? is.standing : 'moved');
        expect(rows.codeOf(step, row)).toBe(is.standing === 'accepted' ? '' : is.code);
        expect(rows.movedTo(step, row)).toBe(is.movedTo);
        expect(rows.isKnownAccepted(step, row)).toBe(is.standing === 'accepted' && !is.by.startsWith('person'));
        expect(rows.sentTimeOf(step, row)).toEqual(is.sent);
      }
      const inDoubt = all.filter(({ model: { standing } }) => standing === 'in-doubt');
      expect([...rows.listInDoubt()]).toEqual(inDoubt.map(({ step, row }) => ({ step, row })));
      expect(rows.countInDoubt()).toBe(inDoubt.length);
      expect(rows.countMoved()).toBe(all.filter(({ model: { movedTo } }) => movedTo !== undefined).length);
      const own = all.filter(({ model: { standing, movedTo } }) => standing === 'rejected' && movedTo === undefined);
      const codes = new Map<string, number>();
      for (const { model: is } of own) codes.set(is.code, (codes.get(is.code) ?? 0) + 1);
      expect(rows.countRejected()).toEqual(codes);
    }),
    { numRuns: 300 },
  );
});

test('it answers as the classes did that each read the journal for itself', async () => {
  const steps = SIZES.map(({ number, planned, requests }) => ({ number, kind: 'sms', counts: { planned, requests } }));
  const plan = { steps, job: { steps: SIZES.map(() => ({ kind: 'sms', input: {} })) } } as unknown as Plan;
  await fc.assert(
    fc.asyncProperty(anyJournal, async (model) => {
      const { files, rows } = await readModel(model);
      const inDoubt = (await InDoubtRows.read(files, '/run', plan)).rows;
      const retry = (await RetryRows.read(files, '/run', plan)).rows;
      const record = await SentRecord.read(files, '/run', plan);
      expect([...rows.listInDoubt()]).toEqual([...inDoubt.list()]);
      expect(rows.countInDoubt()).toBe(inDoubt.count);
      expect(rows.countMoved()).toBe(retry.retried);
      expect(rows.countRejected()).toEqual(retry.codes);
      expect(rows.moves).toEqual(retry.given);
      for (const { step, row } of listRows(model)) {
        expect(rows.isInDoubt(step, row)).toBe(inDoubt.has(step, row));
        expect(rows.standingOf(step, row) === 'rejected').toBe(retry.isRejected(step, row));
        expect(rows.standingOf(step, row) === 'open').toBe(retry.isUntouched(step, row));
        expect(rows.movedTo(step, row)).toBe(retry.givenTo(step, row));
        expect(rows.isKnownAccepted(step, row)).toBe(record.acceptedOf(step)[row] === 1);
        expect(rows.sentTimeOf(step, row)).toEqual(record.timeOf(step, row));
      }
    }),
    { numRuns: 300 },
  );
});
