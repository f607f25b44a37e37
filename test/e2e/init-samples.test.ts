import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { aWorkbook, rowsOf } from '../input/xlsx/a-workbook.js';
import { aWorkspaceInProcess, type Workspace } from './a-workspace.js';

const EXPORTS = new URL('../../samples/exports/', import.meta.url);
/** As a German Excel saves it: neither UTF-8 nor the encoding of most exports. */
const OPT_OUTS = Buffer.from('mobile,name\n+6591001003,J\xfcrgen\n+4915112345678,S\xf6ren\n', 'latin1');

let workspace: Workspace;
beforeAll(async () => {
  workspace = await aWorkspaceInProcess();
});

const volley = (...args: string[]) => workspace.volley(...args);
const people = (numbers: readonly string[]) => `name,mobile\n${numbers.map((each) => `Ann,${each}\n`).join('')}`;
const GERMAN = Array.from({ length: 12 }, (_, index) => `0151 123456${String(index).padStart(2, '0')}`);
const WITH_PLUS = GERMAN.map((each) => `+49${each.replaceAll(' ', '').slice(1)}`);

test.each(readdirSync(EXPORTS).toSorted())(
  'the job from %s passes check and plan, with an opt-out list in windows-1252 beside it',
  async (file) => {
    const at = `all/${file}`;
    workspace.write(`${at}/${file}`, readFileSync(new URL(file, EXPORTS)));
    workspace.write(`${at}/opt-outs.csv`, OPT_OUTS);

    const init = await volley('init', `${at}/${file}`, '--output', `${at}/job.yaml`);

    expect(init.code).toBe(0);
    expect(workspace.read(`${at}/job.yaml`)).toContain('suppress: { files: [opt-outs.csv], encoding: windows-1252 }');
    expect((await volley('check', `${at}/job.yaml`)).code).toBe(0);
    const planned = await volley('plan', `${at}/job.yaml`);
    expect(planned.code).toBe(0);
    expect(JSON.parse(planned.stdout).steps[0].suppression).toMatchObject([{ read: 2 }]);
    // What its comments name is right for it, too.
    const commented = workspace.read(`${at}/job.yaml`).replace(/# (?=testNumbers)/, '');
    workspace.write(`${at}/job.yaml`, commented);
    expect((await volley('check', `${at}/job.yaml`)).code).toBe(0);
  },
);

test.each([
  ['windows-1252', 'utf-8'],
  ['utf-8', 'windows-1252'],
  ['windows-1252', 'windows-1252'],
])('an export in %s and an opt-out list in %s are read each in its own', async (ofExport, ofList) => {
  const at = `own/${ofExport}-${ofList}`;
  const encode = (text: string, encoding: string) => Buffer.from(text, encoding === 'utf-8' ? 'utf8' : 'latin1');
  workspace.write(`${at}/people.csv`, encode(`name,mobile\nJürgen,+6591001003\nSören,+6591001004\n`, ofExport));
  workspace.write(`${at}/opt-outs.csv`, encode('name;mobile\nJürgen;+6591001003\n', ofList));

  expect((await volley('init', `${at}/people.csv`)).code).toBe(0);

  const job = workspace.read(`${at}/people.yaml`);
  expect(job.includes('\n      encoding: windows-1252')).toBe(ofExport === 'windows-1252');
  expect(job.includes('[opt-outs.csv], encoding: windows-1252 }')).toBe(ofList === 'windows-1252');
  expect((await volley('check', `${at}/people.yaml`)).code).toBe(0);
  expect(JSON.parse((await volley('plan', `${at}/people.yaml`)).stdout).steps).toMatchObject([
    { counts: { planned: 1, skipped: 1 } },
  ]);
});

test('an opt-out list in an encoding that is not found is refused, unless --encoding says it', async () => {
  workspace.write('odd/people.csv', people(['+6591001000']));
  workspace.write('odd/opt-outs.csv', Buffer.from('name,mobile\n\xa3ukasz,+6591001000\n', 'latin1'));

  const init = await volley('init', 'odd/people.csv');
  expect(init.code).toBe(2);
  expect(JSON.stringify(JSON.parse(init.stdout).error)).toContain('opt-outs.csv:2');

  workspace.write('odd/people.csv', Buffer.from('name,mobile\n\xa3ukasz,+6591001000\n', 'latin1'));
  expect((await volley('init', 'odd/people.csv', '--encoding', 'windows-1250')).code).toBe(0);
  expect(workspace.read('odd/people.yaml')).toContain('[opt-outs.csv], encoding: windows-1250 }');
});

test('numbers without + of an opt-out list are read in its country, also where the export needs none', async () => {
  workspace.write('land/people.csv', people(WITH_PLUS));
  workspace.write('land/opt-outs.csv', people(GERMAN.slice(0, 3)));

  expect((await volley('init', 'land/people.csv')).code).toBe(0);

  expect(workspace.read('land/people.yaml')).toContain('suppress: { files: [opt-outs.csv], country: DE }');
  expect(JSON.parse((await volley('plan', 'land/people.yaml')).stdout).steps).toMatchObject([
    { counts: { planned: 9, skipped: 3 } },
  ]);
});

test('its examples are of the country of most recipients', async () => {
  workspace.write('examples/people.csv', people(WITH_PLUS));
  workspace.write('examples/us.csv', people(['+12025550123', '+12125552368', '+13105550100', '+6591001000']));

  await volley('init', 'examples/people.csv');
  await volley('init', 'examples/us.csv');

  expect(workspace.read('examples/people.yaml')).toMatch(
    /# region: europe\n.*testNumbers: \["\+4915\d+"\].*timeZone: Europe\/Berlin/s,
  );
  expect(workspace.read('examples/us.yaml')).toMatch(
    /# region: north-america\n.*testNumbers: \["\+1\d+"\].*timeZone: America\/New_York/s,
  );
});

test('the mark of a workbook that is open in Excel is no file of the job, named or matched', async () => {
  const book = aWorkbook({ sheets: [{ name: 'S', rows: rowsOf(['name', 'mobile'], ['Ann', '+6591001000']) }] });
  workspace.write('open/people.xlsx', book);
  workspace.write('open/~$people.xlsx', Buffer.from('\x03Ann'));

  const init = await volley('init', 'open/~$people.xlsx', 'open/people.xlsx', '--no-json');
  expect(init.code).toBe(0);
  expect(init.stdout).toMatch(/not used open\/~\$people\.xlsx: open in Excel/);

  const alone = JSON.parse((await volley('init', 'open/~$people.xlsx')).stdout).error;
  expect(alone.message).toContain('~$people.xlsx: it is the mark of a workbook that is open in Excel');

  for (const [files, code] of [
    ['"*.xlsx"', 0],
    ['"~$people.xlsx"', 2],
  ] as const) {
    const job = workspace.read('open/people.yaml').replace('files: [people.xlsx]', `files: [${files}]`);
    workspace.write('open/job.yaml', job);
    expect((await volley('plan', 'open/job.yaml')).code).toBe(code);
  }
});
