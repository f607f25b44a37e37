import { describe, expect, test } from 'vitest';
import { aWorkbook, rowsOf, type WorkbookParts } from '../input/xlsx/a-workbook.js';
import { anSmsStep, numberOf } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';

const STEP = anSmsStep({ input: { files: '*.xlsx' } });

async function aWorkspaceOf(parts: WorkbookParts, step = STEP): Promise<Workspace> {
  const workspace = await aWorkspace();
  workspace.write('people.xlsx', aWorkbook(parts));
  workspace.change({ steps: [step] });
  return workspace;
}

describe('a workbook as input', () => {
  test('is sent as it is, rejected rows with their row in the sheet and their cells', async () => {
    const rows = `${rowsOf(['name', 'mobile', 'pin'])}<row r="3"><c r="A3" t="str"><v>Ann</v></c><c r="B3"><v>6.591000001E9</v></c><c r="C3" s="1"><v>7</v></c></row><row r="7"><c r="A7" t="str"><v>Ben</v></c><c r="B7" t="e"><v>#N/A</v></c></row>`;
    const step = anSmsStep({
      input: { files: 'people.xlsx', country: 'SG' },
      template: { source: 'ACME', text: 'Hi {{ name }}, your PIN is {{ pin }}' },
    });
    const workspace = await aWorkspaceOf({ rows, formats: ['0000'] }, step);

    const { code, summary } = await workspace.run();

    expect(code).toBe(1);
    expectEveryRowOnce(summary);
    expect(readOutput(summary, 1, 'rejections')).toMatchObject([
      {
        name: 'Ben',
        mobile: '#N/A',
        _file: 'people.xlsx',
        _line: '7',
        _row: '2',
        _code: 'cell-error',
        _field: 'mobile',
      },
    ]);
    expect((await workspace.sms()).map(({ destination, text }) => [destination, text])).toEqual([
      [numberOf(1), 'Hi Ann, your PIN is 0007'],
    ]);
  });

  test('is as many files as it has sheets: each is sent once the job names it, and once; one of them may be a list', async () => {
    const sheet = (name: string, ...rows: (readonly [string, number])[]) => ({
      name,
      rows: rowsOf(['name', 'mobile'], ...rows.map(([who, person]) => [who, numberOf(person)])),
    });
    const workspace = await aWorkspaceOf({
      sheets: [sheet('May', ['Ann', 1], ['Ben', 2]), sheet('June', ['Cid', 3], ['Dan', 4]), sheet('Stop', ['Dan', 4])],
    });
    const name = (of: string) =>
      workspace.change({
        steps: [
          anSmsStep({ input: { files: '*.xlsx', sheet: of }, suppress: { files: 'people.xlsx', sheet: 'Stop' } }),
        ],
      });
    name('May');
    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 2 });
    name('June');
    expect((await workspace.run()).summary.balance).toMatchObject({ accepted: 1, skipped: 1 });
    for (const of of ['May', 'June']) {
      name(of);
      expect((await workspace.told('run', 'job.yaml')).state).toBe('nothing-new');
    }
    expect(await workspace.destinations()).toEqual([1, 2, 3].map(numberOf));
  });
});
