import { describe, expect, it } from 'vitest';
import type { NotSent } from '../../src/domain/row.js';
import type { Withholding } from '../../src/run/run-deps.js';
import { aPlanOfBatches, linesOf } from '../plan/a-plan.js';
import {
  aRun,
  aScriptedService,
  duplicatesAmong,
  entriesOf,
  journalOf,
  outputOf,
  reportOf,
  rowsOfMessages,
  writeJournal,
} from './a-run.js';

const OPTED_OUT: NotSent = { status: 'not-sent', code: 'opted-out', reason: 'The number is on the list stop.csv' };
const numberOf = (row: number) => 6_590_000_000 + row;

/** Withholds these rows from the look with this number on, from 1. */
function aWithholding(rows: readonly number[], fromLook = 1) {
  let looks = 0;
  const withheld = new Set(rows.map(numberOf));
  const withholding: Withholding = {
    version: 0,
    refresh: async () => {
      looks += 1;
    },
    find: ({ number }) => (looks >= fromLook && withheld.has(number) ? OPTED_OUT : undefined),
  };
  return withholding;
}

const aBatchOf = (batchSize = 7) => aPlanOfBatches(7, { batchSize });

describe('rows that are withheld', () => {
  // The first look is before the intent, the second at the gate.
  it.each(
    [1, 2].flatMap((look) =>
      [[0], [3], [6], [0, 6], [2, 3], [0, 3, 6], [0, 1, 2, 3, 4, 5, 6]].map((rows) => ({ look, rows })),
    ),
  )(
    'from look $look on: $rows get nothing and stand in unprocessed.csv, the others get what was planned',
    async ({ look, rows }) => {
      const made = await aBatchOf();
      const service = aScriptedService();
      const { end } = await aRun({ made, service, deps: { withholding: aWithholding(rows, look) } });
      expect(end.reason).toBe('finished');
      const others = [0, 1, 2, 3, 4, 5, 6].filter((row) => !rows.includes(row));
      expect(rowsOfMessages(service.accepted)).toEqual(others);
      expect(duplicatesAmong(service.accepted)).toEqual([]);
      const planned = JSON.parse(linesOf(made.disk.readText(`${made.directory}/1-sms.requests.ndjson`))[0] ?? '').body;
      const sent = service.sent.flatMap(({ body }) => body.messages ?? []);
      expect(
        sent.every((message) =>
          planned.messages.some((each: unknown) => JSON.stringify(each) === JSON.stringify(message)),
        ),
      ).toBe(true);
      const summary = await reportOf(made);
      const expected = { exitCode: 0, balance: { read: 7, accepted: others.length, unprocessed: rows.length } };
      expect(summary).toMatchObject(expected);
      const notSent = { 'opted-out': rows.length };
      expect(summary.steps[0]).toMatchObject({ notSent, requests: { planned: 1, settled: 1 } });
      expect(outputOf(made, 'unprocessed').map((line) => line.split(',').slice(1, 8))).toEqual(
        rows.map((row) => [`n${row}`, '1', 'people.csv', `${row + 2}`, `${row + 1}`, 'opted-out', OPTED_OUT.reason]),
      );
    },
  );

  it('are not withheld where an earlier process may have sent them: they stay in doubt', async () => {
    const made = await aBatchOf();
    const died = aScriptedService(() => {
      throw new Error('the process dies');
    });
    await expect(aRun({ made, service: died })).rejects.toThrow();
    const service = aScriptedService();
    await aRun({ made, service, epoch: 2, deps: { withholding: aWithholding([3]) } });
    expect(service.sent).toEqual([]);
    expect((await reportOf(made)).balance).toMatchObject({ inDoubt: 7, unprocessed: 0 });
  });

  it.each([1, 2])('stop the run where it cannot be known, at look %i: nothing more is sent', async (look) => {
    const made = await aBatchOf(1);
    const service = aScriptedService();
    let looks = 0;
    const refresh = async () => {
      looks += 1;
      if (looks >= look) throw new Error('the list is gone');
    };
    await expect(
      aRun({ made, service, deps: { withholding: { version: 0, refresh, find: () => undefined } } }),
    ).rejects.toThrow('the list is gone');
    expect(service.sent).toEqual([]);
    await aRun({ made, service, epoch: 2 });
    expect(rowsOfMessages(service.accepted)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });
});

it('a run whose journal ends anywhere sends no row twice, loses none and sends none that is withheld', async () => {
  const rows = [1, 4];
  const whole = await aBatchOf(4);
  await aRun({ made: whole, deps: { withholding: aWithholding(rows, 2) } });
  const journal = linesOf(journalOf(whole));
  expect(entriesOf(whole.disk, whole.directory).filter(({ type }) => type === 'outcome').length).toBeGreaterThan(5);
  for (let length = 1; length < journal.length; length += 1) {
    const made = await aBatchOf(4);
    writeJournal(made, journal.slice(0, length));
    const service = aScriptedService();
    await aRun({ made, service, epoch: 2, deps: { withholding: aWithholding(rows) } });
    const { balance } = await reportOf(made);
    expect(duplicatesAmong(service.accepted)).toEqual([]);
    expect(rowsOfMessages(service.accepted).filter((row) => rows.includes(row))).toEqual([]);
    expect(balance.accepted + balance.inDoubt + balance.unprocessed).toBe(7);
  }
});
