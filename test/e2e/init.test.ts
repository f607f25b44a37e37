import { statSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { aWorkbook, rowsOf } from '../input/xlsx/a-workbook.js';
import { aWorkspaceInProcess, type Workspace } from './a-workspace.js';

const PEOPLE = `Name;Handy;Land;Newsletter\n${Array.from(
  { length: 30 },
  (_, index) => `Person ${index};+65 9100 ${1000 + index};Singapur;${index < 20 ? 'Ja' : 'nein'}\n`,
).join('')}`;

let workspace: Workspace;
beforeAll(async () => {
  workspace = await aWorkspaceInProcess();
});

const volley = (...args: string[]) => workspace.volley(...args);
const errorOf = ({ stdout }: { stdout: string }) => JSON.parse(stdout).error;

test('init writes a job that can be checked, planned and run as it is, the same for the same file, and without a cell of it', async () => {
  for (const name of ['a', 'b']) workspace.write(`${name}/people.csv`, PEOPLE);
  await volley('init', 'b/people.csv');

  const init = await volley('init', 'a/people.csv');

  expect(init.code).toBe(0);
  expect(JSON.parse(init.stdout)).toMatchObject({
    job: 'people',
    path: workspace.path('a/people.yaml'),
    kind: 'sms',
    rows: 30,
    destination: 'Handy',
    validNumbers: 30,
    exitCode: 0,
    error: null,
  });
  expect((await volley('check', 'a/people.yaml')).code).toBe(0);
  expect(JSON.parse((await volley('plan', 'a/people.yaml')).stdout).steps).toMatchObject([
    { kind: 'sms', counts: { read: 30, planned: 30, rejected: 0 } },
  ]);
  expect((await volley('run', 'a/people.yaml')).summary.balance).toMatchObject({ accepted: 30 });
  expect(workspace.read('a/people.yaml')).toBe(workspace.read('b/people.yaml'));
  expect(workspace.read('a/people.yaml')).not.toMatch(/Person|9100|Singapur/);
});

test('what its comments name is taken in from them: consent, hours, test numbers, a price list and a time', async () => {
  workspace.write('comments/people.csv', PEOPLE);
  workspace.write('comments/prices.csv', 'country,sms\nSG,0.05\n');
  await volley('init', 'comments/people.csv');
  const written = workspace.read('comments/people.yaml');
  const at = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  // What the service sends at a time has no window.
  for (const when of ['scheduled', 'window']) {
    const taken = written.replace(new RegExp(`# (?=(${when}|where|testNumbers|prices):)`, 'g'), '');
    workspace.write('comments/people.yaml', taken.replace('2026-12-01', at));
    expect(taken.match(/^ *(window|where|testNumbers|prices|scheduled):/gm)).toHaveLength(4);
    const { code, stdout } = await volley('check', 'comments/people.yaml');
    expect(code, stdout).toBe(0);
  }
  expect(JSON.parse((await volley('plan', 'comments/people.yaml')).stdout).steps).toMatchObject([
    { counts: { planned: 20, skipped: 10 }, hours: { groups: { SG: expect.any(Number) } } },
  ]);
});

test('a job that exists is not overwritten', async () => {
  workspace.write('e/people.csv', PEOPLE);
  workspace.write('e/people.yaml', 'mine');

  const init = await volley('init', 'e/people.csv');

  expect(init.code).toBe(2);
  expect(errorOf(init).message).toContain('e/people.yaml: it exists');
  expect(workspace.read('e/people.yaml')).toBe('mine');
  expect((await volley('init', 'e/people.csv', '--output', 'e/other.yaml')).code).toBe(0);
});

test('on a terminal init says what it found, shows a message and the next commands', async () => {
  workspace.write('f/people.csv', PEOPLE);

  const { stdout } = await volley('init', 'f/people.csv', '--no-json');

  expect(stdout).toContain('number   Handy: a valid number in 30 of 30 rows');
  expect(stdout).toContain('+65******00      │ Hi Person 0, this is a message from ACME.');
  expect(stdout).toMatch(/check f\/people\.yaml\n.*plan f\/people\.yaml\n.*run f\/people\.yaml\n$/);
});

test('an opt-out list beside the file is suppressed, and is not written to when it is named with the others', async () => {
  workspace.write('g/people.csv', PEOPLE);
  workspace.write('g/opt-outs.csv', 'mobile\n+6591001003\n');
  await volley('init', 'g/people.csv', 'g/opt-outs.csv');

  expect(JSON.parse((await volley('plan', 'g/people.yaml')).stdout).steps).toMatchObject([
    { inputs: [{ file: 'people.csv' }], counts: { read: 30, planned: 29, skipped: 1 } },
  ]);
});

test('volley run on a data file offers volley init', async () => {
  workspace.write('people.csv', PEOPLE);
  workspace.write('my people.csv', PEOPLE);

  expect(errorOf(await volley('run', 'people.csv')).hint).toBe('Write a job from it: `volley init people.csv`');
  expect(errorOf(await volley('run', 'my people.csv')).hint).toBe("Write a job from it: `volley init 'my people.csv'`");
});

test.each([
  ['no.csv', undefined, 'there is no such file'],
  ['empty.csv', '', 'the file is empty'],
  ['blank.csv', '\n\n', 'it holds only blank lines'],
  ['header.csv', 'name,mobile\n', 'it holds no row that can be read'],
  ['numbers.csv', '+6591001000\n+6591001001\n', 'column 1 of its first line is a number'],
  ['mails.csv', 'Ann,ann@example.com\nBen,ben@example.com\n', 'column 2 of its first line is an e-mail address'],
  ['binary.csv', Uint8Array.from({ length: 2000 }, (_, index) => (index * 131) % 256), 'NUL'],
  ['book.csv', Buffer.from('PK\u0003\u0004 and more'), 'it is a workbook'],
  ['words.csv', 'a,b\n1,2\n', 'no column holds phone numbers or e-mail addresses'],
  ['opt-outs.csv', 'mobile\n+6591001000\n', 'it lists people who must get no message'],
  ['results.csv', '_step,_file,_line,_row,_status,mobile\n1,a.csv,2,1,accepted,+6591001000\n', 'an output of Volley'],
])('%s is refused: %s', async (name, content, reason) => {
  if (content !== undefined) workspace.write(`hostile/${name}`, content);

  const init = await volley('init', `hostile/${name}`);

  expect(init.code).toBe(2);
  expect(errorOf(init).message).toContain(reason);
  expect(() => statSync(workspace.path('hostile/no.yaml'))).toThrow('ENOENT');
});

test('two files are one job, in the columns that both have', async () => {
  workspace.write('two/a.csv', 'Name,Mobile,Town\nAnn,+6591001000,Ulm\n');
  workspace.write('two/b.csv', 'mobile;name\n+6591001001;Ben\n');
  await volley('init', 'two/a.csv', 'two/b.csv');

  expect(workspace.read('two/a.yaml')).toContain('# Not in all of the files, and so not used: "Town"');
  expect(JSON.parse((await volley('plan', 'two/a.yaml')).stdout).steps).toMatchObject([{ counts: { planned: 2 } }]);
});

test('--encoding says what is not found, and stands in the job', async () => {
  workspace.write('says/people.csv', Buffer.from('Name,Mobile\n\xa3ukasz,+6591001000\n', 'latin1'));

  expect(errorOf(await volley('init', 'says/people.csv')).hint).toContain(
    'for volley init, by --encoding windows-1252',
  );
  expect((await volley('init', 'says/people.csv', '--encoding', 'windows-1250')).code).toBe(0);

  expect(workspace.read('says/people.yaml')).toMatch(/^ {6}encoding: windows-1250$/m);
  expect((await volley('preview', 'says/people.yaml', '--no-json')).stdout).toContain('Hi Łukasz,');
});

test('--sheet names one of several sheets, and stands in the job', async () => {
  const book = aWorkbook({
    sheets: [
      { name: 'Notes', rows: rowsOf(['made by'], ['Ann']) },
      { name: 'May June', rows: rowsOf(['name', 'mobile'], ['Ann', '+6591001000']) },
    ],
  });
  workspace.write('sheets/people.xlsx', book);

  expect(errorOf(await volley('init', 'sheets/people.xlsx')).hint).toContain('for volley init, --sheet Notes');
  expect((await volley('init', 'sheets/people.xlsx', '--sheet', 'may june')).code).toBe(0);

  expect(JSON.parse((await volley('plan', 'sheets/people.yaml')).stdout).steps).toMatchObject([
    { counts: { planned: 1 } },
  ]);
});

test('names of columns do no harm in the job', async () => {
  const names = [
    '"a\nsteps: []\n# b"',
    '"#"',
    "'",
    '"{{ x }}"',
    '"say ""hi"""',
    'yes',
    '"- x: y"',
    '"\u202e"',
    '"full name"',
  ];
  workspace.write('odd/people.csv', `${names.join(',')},"Mo: [bile"\n${'x,'.repeat(names.length)}+6591001000\n`);
  const init = await volley('init', 'odd/people.csv');

  expect(JSON.parse(init.stdout)).toMatchObject({ destination: 'Mo: [bile', validNumbers: 1 });
  expect(JSON.parse((await volley('plan', 'odd/people.yaml')).stdout).steps).toMatchObject([
    { counts: { planned: 1 } },
  ]);
});

test.each([
  [['--country', 'Atlantis'], 'is not a country'],
  [['--destination', 'Fax'], "no column matches 'Fax'"],
  [['--encoding', 'klingon'], 'it is "klingon", expected one such as'],
  [['--sheet', 'May'], 'no file is a workbook'],
  [['--output', 'x.csv'], 'expected a name that ends in .yaml'],
  [['--output', 'nowhere/x.yaml'], 'no such file or directory'],
])('%j is refused', async (args, reason) => {
  workspace.write('i/people.csv', PEOPLE);

  const init = await volley('init', 'i/people.csv', ...args);

  expect(init.code).toBe(2);
  expect(errorOf(init).message).toContain(reason);
});

test.each([
  ['windows-1252', 'utf-8'],
  ['utf-8', 'windows-1252'],
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
