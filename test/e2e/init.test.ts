import { existsSync, readFileSync } from 'node:fs';
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

/** Each test has a directory of its own. */
function init(directory: string, files: Readonly<Record<string, string | Uint8Array>>, ...flags: string[]) {
  for (const [name, content] of Object.entries(files)) workspace.write(`${directory}/${name}`, content);
  return workspace.told('init', ...Object.keys(files).map((name) => `${directory}/${name}`), ...flags);
}

/** Plans the job that was written; what its step counts. */
async function planOf(job: string) {
  const [{ counts, ...step }] = (await workspace.told('plan', job)).steps;
  return { ...step, ...counts };
}

async function expectRefused(told: ReturnType<typeof init>, reason: string): Promise<void> {
  expect(await told).toMatchObject({ exitCode: 2, error: { message: expect.stringContaining(reason) } });
}

test('init writes a job that can be checked, planned and run as it is, the same for the same file, and without a cell of it', async () => {
  await init('b', { 'people.csv': PEOPLE });

  expect(await init('a', { 'people.csv': PEOPLE })).toMatchObject({
    ...{ job: 'people', path: workspace.path('a/people.yaml'), kind: 'sms', rows: 30 },
    ...{ destination: 'Handy', validNumbers: 30, exitCode: 0, error: null },
  });

  expect((await workspace.volley('check', 'a/people.yaml')).code).toBe(0);
  expect(await planOf('a/people.yaml')).toMatchObject({ kind: 'sms', read: 30, planned: 30, rejected: 0 });
  const { directory, balance } = (await workspace.volley('run', 'a/people.yaml')).summary;
  expect(balance).toMatchObject({ accepted: 30 });
  expect(readFileSync(`${directory}/1-sms.results.csv`, 'utf8')).toMatch(/^\ufeff_step;_file;/);
  expect(workspace.read('a/people.yaml')).toBe(workspace.read('b/people.yaml'));
  expect(workspace.read('a/people.yaml')).not.toMatch(/Person|9100|Singapur/);
});

test('what its comments name is taken in from them: consent, hours, test numbers, a price list and a time', async () => {
  workspace.write('comments/prices.csv', 'country,sms\nSG,0.05\n');
  await init('comments', { 'people.csv': PEOPLE });
  const written = workspace.read('comments/people.yaml');
  const at = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  // What the service sends at a time has no window.
  for (const when of ['scheduled', 'window']) {
    const taken = written.replace(new RegExp(`# (?=(${when}|where|testNumbers|prices):)`, 'g'), '');
    workspace.write('comments/people.yaml', taken.replace('2026-12-01', at));
    expect(taken.match(/^ *(window|where|testNumbers|prices|scheduled):/gm)).toHaveLength(4);
    expect(await workspace.told('check', 'comments/people.yaml')).toMatchObject({ exitCode: 0 });
  }
  const hours = { groups: { SG: expect.any(Number) } };
  expect(await planOf('comments/people.yaml')).toMatchObject({ planned: 20, skipped: 10, hours });
});

test('a job that exists is not overwritten', async () => {
  workspace.write('e/people.yaml', 'mine');
  await expectRefused(init('e', { 'people.csv': PEOPLE }), 'e/people.yaml: it exists');
  expect(workspace.read('e/people.yaml')).toBe('mine');
  expect((await init('e', { 'people.csv': PEOPLE }, '--output', 'e/other.yaml')).exitCode).toBe(0);
});

test('on a terminal init says what it found, shows a message and the next commands', async () => {
  workspace.write('f/people.csv', PEOPLE);
  const { stdout } = await workspace.volley('init', 'f/people.csv', '--no-json');
  expect(stdout).toContain('number   Handy: a valid number in 30 of 30 rows');
  expect(stdout).toContain('+65******00      │ Hi Person 0, this is a message from ACME.');
  expect(stdout).toMatch(/check f\/people\.yaml\n.*plan f\/people\.yaml\n.*run f\/people\.yaml\n$/);

  // A message that comes late in a large file is not waited for.
  workspace.write('f/late.csv', `Handy\n${'12\n'.repeat(50_000)}+6591001000\n`);
  const { stdout: late } = await workspace.volley('init', 'f/late.csv', '--destination', 'Handy', '--no-json');
  expect(late).toContain('The job f/late.yaml is written');
  expect(late).not.toContain('│');
});

test('an opt-out list beside the file is suppressed, and is not written to when it is named with the others', async () => {
  await init('g', { 'people.csv': PEOPLE, 'opt-outs.csv': 'mobile\n+6591001003\n' });
  const inputs = [{ file: 'people.csv' }];
  expect(await planOf('g/people.yaml')).toMatchObject({ inputs, read: 30, planned: 29, skipped: 1 });
});

test.each(['people.csv', 'my people.csv'])('volley run on a data file offers volley init: %s', async (name) => {
  workspace.write(name, PEOPLE);
  const quoted = name.includes(' ') ? `'${name}'` : name;
  const hint = `Write a job from it: \`volley init ${quoted}\``;
  expect((await workspace.refused('run', name)).error.hint).toBe(hint);
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
  const told = content === undefined ? workspace.told('init', `hostile/${name}`) : init('hostile', { [name]: content });
  await expectRefused(told, reason);
  expect(existsSync(workspace.path(`hostile/${name.replace('.csv', '.yaml')}`))).toBe(false);
});

test.each([
  [['--country', 'Atlantis'], 'is not a country'],
  [['--destination', 'Fax'], "no column matches 'Fax'"],
  [['--encoding', 'klingon'], 'it is "klingon", expected one such as'],
  [['--sheet', 'May'], 'no file is a workbook'],
  [['--output', 'x.csv'], 'expected a name that ends in .yaml'],
  [['--output', 'nowhere/x.yaml'], 'no such file or directory'],
])('%j is refused', async (flags, reason) => {
  await expectRefused(init('i', { 'people.csv': PEOPLE }, ...flags), reason);
});

test('a title above the names of the columns is passed over; one with their delimiter is named', async () => {
  await init('title', { 'people.csv': `Customers 2026\n${PEOPLE}` });
  expect(await planOf('title/people.yaml')).toMatchObject({ read: 30, planned: 30 });
  const { error } = await init('comma', { 'people.csv': `Customers, May\n${PEOPLE}` });
  expect(error.hint).toBe(
    'Its first line is taken for the names of the columns: Customers, May. If it is a title, remove it; if each row ends with a delimiter, so must it.',
  );
});

test('two files are one job, in the columns that both have', async () => {
  const files = { 'a.csv': 'Name,Mobile,Town\nAnn,+6591001000,Ulm\n', 'b.csv': 'mobile;name\n+6591001001;Ben\n' };
  await init('two', files);
  expect(workspace.read('two/a.yaml')).toContain('# Not in all of the files, and so not used: "Town"');
  expect(await planOf('two/a.yaml')).toMatchObject({ planned: 2 });
});

test('--encoding says what is not found, and stands in the job', async () => {
  const files = { 'people.csv': Buffer.from('Name,Mobile\n\xa3ukasz,+6591001000\n', 'latin1') };
  expect((await init('says', files)).error.hint).toContain('for volley init, by --encoding windows-1252');
  expect((await init('says', files, '--encoding', 'windows-1250')).exitCode).toBe(0);
  expect(workspace.read('says/people.yaml')).toMatch(/^ {6}encoding: windows-1250$/m);
  expect((await workspace.volley('preview', 'says/people.yaml', '--no-json')).stdout).toContain('Hi Łukasz,');
});

test('--sheet names one of several sheets, and stands in the job', async () => {
  const sheets = [
    { name: 'Notes', rows: rowsOf(['made by'], ['Ann']) },
    { name: 'May June', rows: rowsOf(['name', 'mobile'], ['Ann', '+6591001000']) },
  ];
  const files = { 'people.xlsx': aWorkbook({ sheets }) };
  expect((await init('sheets', files)).error.hint).toContain('for volley init, --sheet Notes');
  expect((await init('sheets', files, '--sheet', 'may june')).exitCode).toBe(0);
  expect(await planOf('sheets/people.yaml')).toMatchObject({ planned: 1 });
});

test('names of columns and files do no harm in the job', async () => {
  const hostile = ['"a\nsteps: []\n# b"', '"#"', "'", '"{{ x }}"', '"say ""hi"""', 'yes', '"- x: y"', '"\u202e"'];
  const names = [...hostile, '"full name"', '"Mo: [bi\nle"'];
  const people = `${names.join(',')}\n${'x,'.repeat(names.length - 1)}+6591001000\n`;
  expect(await init('odd', { 'people.csv': people })).toMatchObject({ destination: 'Mo: [bi\nle', validNumbers: 1 });
  expect(await planOf('odd/people.yaml')).toMatchObject({ planned: 1 });
  await init('blank', { ' own .csv': people });
  expect(await planOf('blank/ own .yaml')).toMatchObject({ planned: 1 });
  workspace.write('odd/a\nb.csv', people);
  const { code, stderr } = await workspace.volley('init', 'odd/a\nb.csv');
  expect([code, stderr]).toEqual([2, expect.stringContaining('Rename the file')]);
});

test.each([
  ['windows-1252', 'utf-8'],
  ['utf-8', 'windows-1252'],
])('an export in %s and an opt-out list in %s are read each in its own', async (ofExport, ofList) => {
  const at = `own/${ofExport}-${ofList}`;
  const encode = (text: string, encoding: string) => Buffer.from(text, encoding === 'utf-8' ? 'utf8' : 'latin1');
  workspace.write(`${at}/opt-outs.csv`, encode('name;mobile\nJürgen;+6591001003\n', ofList));
  await init(at, { 'people.csv': encode('name,mobile\nJürgen,+6591001003\nSören,+6591001004\n', ofExport) });

  const job = workspace.read(`${at}/people.yaml`);
  expect(job.includes('\n      encoding: windows-1252')).toBe(ofExport === 'windows-1252');
  expect(job.includes('[opt-outs.csv], encoding: windows-1252 }')).toBe(ofList === 'windows-1252');
  expect((await workspace.volley('check', `${at}/people.yaml`)).code).toBe(0);
  expect(await planOf(`${at}/people.yaml`)).toMatchObject({ planned: 1, skipped: 1 });
});
