import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { anSmsStep, numberOf } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';

const NAMES = ['Ann', 'Bea – the second', 'Cid', 'x'.repeat(200), 'Eve', 'Fay', 'Gus'];
const PEOPLE = `mobile,name,ref\n${NAMES.map((name, at) => `${numberOf(at + 1)},${name},2026-01-0${at + 1}\n`).join('')}12,Hal,\n`;
const TEXT = 'Hi {{ name }}!';

const anSms = () => aJobFor(PEOPLE, { steps: [anSmsStep({ template: { source: 'ACME', text: TEXT } })] });

type Shown = { row: number; state: string; code: string; sms?: Record<string, unknown>; cells: Record<string, string> };

async function show(workspace: Workspace, of: string, ...flags: string[]): Promise<readonly Shown[]> {
  const { code, stdout, stderr } = await workspace.volley('preview', of, ...flags);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout).rows;
}

describe.concurrent('preview of a job', () => {
  test('shows the first messages as people get them, with their rows; it writes and sends nothing', async () => {
    const workspace = await anSms();
    const rows = await show(workspace, 'job.yaml', '--count', '2');
    const masked = expect.stringMatching(/^\+65\*{6}\d\d$/);
    const asGsm = { encoding: 'GSM7', parts: 1, units: 7, ucs2: [], replaced: [] };
    expect(rows).toEqual([
      {
        ...{ step: 1, kind: 'sms', file: 'people.csv', line: 2, row: 1, state: 'sent', code: null, reason: null },
        sms: { text: 'Hi Ann!', ...asGsm, source: 'ACME', scheduled: null, localTime: null, to: masked },
        fields: null,
        cells: { mobile: masked, name: 'Ann', ref: '2026-01-01' },
      },
      expect.objectContaining({ row: 2, sms: expect.objectContaining({ encoding: 'UCS2', parts: 1 }) }),
    ]);
    expect(existsSync(workspace.path('out'))).toBe(false);
    expect(await workspace.destinations()).toEqual([]);
  });

  test('names the character that forces UCS-2, and where it stands', async () => {
    const rows = await show(await anSms(), 'job.yaml', '--ucs2');
    expect(rows.map(({ row, sms }) => [row, sms?.ucs2])).toEqual([[2, [{ character: '– (U+2013 EN DASH)', at: 8 }]]]);
  });

  test('shows the longest, the one to a number, or a row that is not sent with its reason', async () => {
    const workspace = await anSms();
    const [longest, second] = await show(workspace, 'job.yaml', '--longest', '--count', '2');
    expect([longest?.row, longest?.sms?.parts, second?.row]).toEqual([4, 2, 2]);
    const [to] = await show(workspace, 'job.yaml', '--to', numberOf(3), '--show-numbers');
    expect([to?.row, to?.sms?.to, to?.cells.mobile]).toEqual([3, numberOf(3), numberOf(3)]);
    const [refused] = await show(workspace, 'job.yaml', '--row', '8');
    expect([refused?.state, refused?.sms]).toEqual(['rejected', null]);
    expect(refused?.code).toMatch(/^[a-z-]+$/);
  });

  test.each<[string, string[], string]>([
    [
      'a row that there is not',
      ['--row', '9'],
      'Cannot preview: --row is 9, expected the number of a row, from 1 to 8',
    ],
    [
      'a number that nothing is sent to',
      ['--to', '+6598765432'],
      'Cannot preview: --to names a number that no row has, expected one of them',
    ],
  ])('refuses %s', async (_what, flags, message) => {
    const { message: said } = await (await anSms()).expectRefused(['preview', 'job.yaml', ...flags], 2, 'bad-flag');
    expect(said).toBe(message);
  });
});

test.concurrent('preview of a run shows what the plan sends, whatever the files hold now', async () => {
  const workspace = await anSms();
  const ofJob = await show(workspace, 'job.yaml', '--count', '100');
  expect((await workspace.volley('plan', 'job.yaml')).code).toBe(0);
  workspace.write('people.csv', 'mobile,name\n');
  const [run] = workspace.runs();
  expect(await show(workspace, `out/sale/${run}`, '--count', '100')).toEqual(ofJob);
  expect(ofJob).toHaveLength(7);
});
