import { expect, test } from 'vitest';
import { aWorkbook, rowsOf } from '../input/xlsx/a-workbook.js';
import { anSmsStep, numberOf } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';

test('a workbook is as many files as it has sheets: each is sent once the job names it, and once; one of them may be a list', async () => {
  const sheet = (name: string, ...rows: (readonly [string, number])[]) => ({
    name,
    rows: rowsOf(['name', 'mobile'], ...rows.map(([who, person]) => [who, numberOf(person)])),
  });
  const sheets = [
    sheet('May', ['Ann', 1], ['Ben', 2]),
    sheet('June', ['Cid', 3], ['Dan', 4]),
    sheet('Stop', ['Dan', 4]),
  ];
  const workspace = await aWorkspace();
  workspace.write('people.xlsx', aWorkbook({ sheets }));
  const suppress = { files: 'people.xlsx', sheet: 'Stop' };
  const name = (of: string) =>
    workspace.change({ steps: [anSmsStep({ input: { files: '*.xlsx', sheet: of }, suppress })] });
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
