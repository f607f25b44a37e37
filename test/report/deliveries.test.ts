import { describe, expect, it } from 'vitest';
import { aCsvOf, aFolder, aNumber, anInput, anSmsStep, aPlan, linesOf, type MadePlan } from '../plan/a-plan.js';
import { aRun, reportOf } from '../run/a-run.js';
import { aReceiptLine, receive } from './some-receipts.js';

const files = aFolder({ 'people.csv': aCsvOf(4), 'more.csv': `town,mobile\nBedok,${aNumber(0)}\n` });

async function aFinishedRun(job = {}) {
  const made = await aPlan({ files, job });
  await aRun({ made });
  return made;
}

function deliveriesOf({ disk, directory }: MadePlan, format = 'csv'): string[] {
  return linesOf(disk.readText(`${directory}/deliveries.${format}`));
}

describe('the deliveries of a run', () => {
  it('are one row for each message with a receipt, in the order of the input, and counted by state', async () => {
    const made = await aFinishedRun();
    const status = { errorCode: 1, errorMessage: '=Absent, subscriber', detail: 'undelivered_to_operator' };
    receive(
      made,
      aReceiptLine(made, 3, { state: 'undelivered', at: 9, status }),
      aReceiptLine(made, 0, { state: 'sent', at: 1 }),
      aReceiptLine(made, 2, { state: 'delivered', at: 4 }),
      aReceiptLine(made, 0, { state: 'delivered', at: 3 }),
    );
    const summary = await reportOf(made);
    expect(deliveriesOf(made)).toEqual([
      '_step,_file,_line,_row,_umid,_state,_detail,_errorCode,_error,_time,_parts,_price,_currency,mobile,name',
      `1,people.csv,2,1,m-0,delivered,delivered,,,2026-11-21T12:00:03Z,1,0.0375,EUR,${aNumber(0)},n0`,
      `1,people.csv,4,3,m-2,delivered,delivered,,,2026-11-21T12:00:04Z,1,0.0375,EUR,${aNumber(2)},n2`,
      `1,people.csv,5,4,m-3,undelivered,undelivered_to_operator,1,"'=Absent, subscriber",2026-11-21T12:00:09Z,1,0.0375,EUR,${aNumber(3)},n3`,
    ]);
    expect(summary.deliveries).toEqual({ delivered: 2, undelivered: 1 });
  });

  it('are not there, and null, for a run without a file of receipts', async () => {
    const made = await aFinishedRun();
    expect((await reportOf(made)).deliveries).toBeNull();
    expect(made.disk.has(`${made.directory}/deliveries.csv`)).toBe(false);
  });

  it('have their header alone where all receipts are of others', async () => {
    const made = await aFinishedRun();
    receive(made, aReceiptLine(made, 0, { payload: { destination: aNumber(9) } }));
    expect((await reportOf(made)).deliveries).toEqual({});
    expect(deliveriesOf(made)).toHaveLength(1);
  });

  it('of several steps join the columns by name', async () => {
    const steps = [anSmsStep(), anSmsStep({ input: anInput({ files: ['more.csv'] }) })];
    const made = await aFinishedRun({ steps });
    receive(made, aReceiptLine(made, 0, { step: 2 }), aReceiptLine(made, 1));
    await reportOf(made);
    expect(deliveriesOf(made).map((line) => line.split(',').slice(13))).toEqual([
      ['mobile', 'name', 'town'],
      [aNumber(1), 'n1', ''],
      [aNumber(0), '', 'Bedok'],
    ]);
  });

  it('in NDJSON say the same', async () => {
    const made = await aFinishedRun({ output: { directory: '/out', format: 'ndjson' } });
    receive(made, aReceiptLine(made, 1));
    await reportOf(made);
    expect(deliveriesOf(made, 'ndjson').map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ _step: 1, _row: 2, _umid: 'm-1', _state: 'delivered', mobile: aNumber(1), name: 'n1' }),
    ]);
  });
});
