import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeLine } from '../../src/journal/entry-format.js';
import { createJournalWindow, type JournalWindow, readJournal } from '../../src/journal/reader.js';
import { RowEndTable, RowStatusView } from '../../src/journal/row-status-view.js';
import { runsOf } from '../one-in.js';
import { anyJournal, SIZES } from './a-journal.js';
import { anIntent, JOURNAL_PATH, memoryFiles } from './builders.js';

test('the view of a run agrees with a plain model about every row, whatever the journal', async () => {
  await fc.assert(
    fc.asyncProperty(anyJournal, async (model) => {
      const rows = new RowStatusView(SIZES);
      await readJournal(filesOf(model.entries), JOURNAL_PATH, (line) => rows.apply(line));
      const all = model.list();
      const seen = all.map(({ step, row }) => ({
        standing: rows.currentStatusOf(step, row),
        code: rows.codeOf(step, row),
        movedTo: rows.movedTo(step, row),
      }));
      const expected = all.map(({ is }) => ({
        standing: is.movedTo === undefined ? is.standing : 'moved',
        code: is.standing === 'accepted' ? '' : is.code,
        movedTo: is.movedTo,
      }));
      expect(seen).toEqual(expected);
      const inDoubt = all.filter(({ is }) => is.standing === 'in-doubt');
      expect([...rows.listInDoubt()]).toEqual(inDoubt.map(({ step, row }) => ({ step, row })));
      expect(rows.countInDoubt()).toBe(inDoubt.length);
      const codes = new Map<string, number>();
      for (const { is } of all) {
        if (is.standing === 'rejected' && is.movedTo === undefined) codes.set(is.code, (codes.get(is.code) ?? 0) + 1);
      }
      expect(rows.countRejected()).toEqual(codes);
    }),
    { numRuns: runsOf(200) },
  );
});

test('places lead to the entries in the journal that say what the rows came to', async () => {
  await fc.assert(
    fc.asyncProperty(anyJournal, fc.integer({ min: 1, max: 400 }), async (model, windowBytes) => {
      const files = filesOf(model.entries);
      const rows = new RowStatusView(SIZES);
      await readJournal(files, JOURNAL_PATH, (line) => rows.apply(line));
      const window = createJournalWindow(files, JOURNAL_PATH, windowBytes);
      for (const each of model.list()) {
        const { step, row, is } = each;
        const isDecided = is.by !== '' || is.code === 'given-up';
        expect(rows.endOf(step, row)?.decided?.code).toBe(isDecided ? is.code : undefined);
        // What was not sent has none in the outputs.
        if (is.standing === 'not-sent') continue;
        expect(await readIds(window, rows, each)).toEqual(is.ids.length === 0 ? [] : [is.ids]);
      }
      await window.close();
    }),
    { numRuns: runsOf(100) },
  );
});

/** Ids that are said of a row: by its settlement, else by the outcomes of its request. */
async function readIds(
  window: JournalWindow,
  rows: RowStatusView,
  { step, row, request }: { step: number; row: number; request: number },
): Promise<unknown[]> {
  const settled = rows.settledIds(step, row);
  if (settled !== undefined) return [settled];
  const ids: unknown[] = [];
  for (const { offset, first: from } of rows.outcomesOf(step, request)) {
    const said = (await window.readOutcomes(offset)).rows[row - from];
    if (said !== undefined) ids.push(said.slice(1));
  }
  return ids;
}

function filesOf(entries: Parameters<typeof encodeLine>[0]['entry'][]) {
  const lines = entries.map((entry, at) => encodeLine({ epoch: 1, seq: at + 1, durable: at, entry }));
  return memoryFiles({ [JOURNAL_PATH]: Buffer.concat(lines) });
}

test('of a pause between rows that were sent a minute counts, and a clock that was set back counts for nothing', () => {
  const rows = new RowStatusView(SIZES);
  expect(rows.sentOf(1)).toBeUndefined();
  for (const at of [1000, 3000, 2000, 4000, 4_000_000]) rows.apply({ entry: anIntent({ request: 1, at }), offset: 0 });
  expect(rows.sentOf(1)).toMatchObject({ rows: 5 * anIntent({}).rows[1], ms: 63_000 });
});

test('accepted rows have one end, whatever code the service gave them', () => {
  const table = new RowEndTable();
  const accepted = { status: 'accepted', code: 'QUEUED', reason: '' } as const;
  expect(table.numberOf(accepted, false)).toBe(table.numberOf({ ...accepted, code: 'SENT' }, false));
  expect(table.endOf(table.numberOf(accepted, false))).toEqual({ status: 'accepted', code: '' });
});
