import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { TEST_CREDENTIALS } from '../../src/sandbox/admission.js';
import { numberOf, people } from '../e2e/a-job.js';
import { findPort } from '../e2e/opened.js';
import { aWorkbook, rowsOf } from '../input/xlsx/a-workbook.js';
import { AConsole, expectSaid, openAConsole, textOf } from './a-console.js';

const TIMEOUT_MS = 120_000;

describe('pages about all campaigns', { timeout: TIMEOUT_MS }, () => {
  const zone = 'Asia/Tokyo';
  beforeAll(() => vi.stubEnv('TZ', zone));
  afterAll(() => vi.unstubAllEnvs());
  const console = openAConsole({ VOLLEY_API_KEY: TEST_CREDENTIALS.apiKey, VOLLEY_ACTOR: 'Anna' });

  const home = (query = '') => console.textAt(`/${query}`);
  const historyOf = async (name: string) => (await console.textAt(`/c/${name}`)).replace(/^.* History /, '');

  async function send(name: string, count: number): Promise<void> {
    await console.check(name);
    await console.send(name, count);
  }

  test('an empty console says how to start', async () => {
    expect(await home()).toContain('No campaigns yet. Start with a file of people.');
    expect(await console.textAt('/people')).toContain('No campaigns yet');
    expect(await console.textAt('/settings')).toContain('Campaigns cannot be sent for real yet');
  });

  test('campaigns are listed by what they need, 50 a page, and found by name; one that cannot be read leaves the others there', async () => {
    await console.aCampaign('sale', people(2));
    await send('sale', 2);
    await console.aCampaign('broken', people(2, 10));
    console.write('campaigns/broken/job.yaml', 'steps: [');
    expect(await home()).toMatch(/Needs you broken .*job\.yaml.* Done sale 2 messages accepted of 2 rows/);
    const broken = await console.ask('/c/broken');
    expect([broken.status, broken.text]).toEqual([422, expect.stringContaining('or cannot be read: nothing is sent')]);
    expect(await console.textAt('/c/broken/message')).toContain('lines that cannot be read');
    const links = ['campaigns/loop', 'campaigns/sale-2/job.yaml'].map((path) => join(console.directory, path));
    mkdirSync(join(console.directory, 'campaigns/sale-2'));
    for (const link of links) symlinkSync(link, link);
    expect(await home()).toMatch(/Needs you (?=.*\bloop ELOOP)(?=.*\bsale-2 ELOOP).* Done sale/);
    expect(await console.textAt('/people')).toContain('One person');
    for (const link of links) rmSync(link);
    rmdirSync(join(console.directory, 'campaigns/sale-2'));

    for (let at = 0; at < 60; at++) mkdirSync(join(console.directory, `campaigns/draft-${at}`));
    expect(await home()).toContain('Campaigns 1 to 50 of 62. Needs you broken');
    expect(await home('?from=50')).toMatch(/Campaigns 51 to 62 of 62\. Drafts .* Done sale 2 messages.* Previous/);
    expect(await home('?from=9999')).toContain('Previous');
    expect(await home('?find=SAL')).toMatch(/^(?!.*draft-).*Done sale/);
    expect(await home('?find=%3Cimg%20onerror%3D1%3E')).toContain('No campaign has “<img onerror=1>” in its name');
  });

  test('what changed since is listed as it is now: another text, a run, a run without its report, a run that is damaged', async () => {
    await console.aCampaign('fresh', people(2, 20));
    expect(await home('?find=fresh')).toContain('Drafts fresh');
    await console.check('fresh');
    expect(await home('?find=fresh')).toContain('Needs you fresh 2 messages checked, not sent');
    await console.save('/c/fresh/message', { sender: 'LADEN', message: 'Other' });
    expect(await home('?find=fresh')).toContain('Drafts fresh');
    await send('fresh', 2);
    expect(await home('?find=fresh')).toContain('Done fresh 2 messages accepted of 2 rows');
    const run = JSON.parse(console.read('.console/fresh/apply.out')).directory;
    // As a listener for its receipts makes it.
    writeFileSync(join(run, '../../events.ndjson'), '');
    renameSync(join(run, 'summary.json'), join(run, 'kept'));
    expect(await home('?find=fresh')).toContain('Needs you fresh sent, and its report is not written yet');
    renameSync(join(run, 'kept'), join(run, 'summary.json'));
    writeFileSync(join(run, 'edited'), '{}');
    renameSync(join(run, 'edited'), join(run, 'plan.json'));
    expect(await home('?find=fresh')).toMatch(/Needs you fresh .*plan\.json/);
    expect(await home('?find=sale')).toContain('Done sale');
  });

  test('a person is looked up over all campaigns, opted out of them, and in again', async () => {
    const look = async (number: string) => textOf(await console.post('/people', { number }));
    expect(await look(numberOf(1))).toMatch(
      /1 message to \+6591000001\. .* at \d\d:\d\d Asia.Tokyo sale accepted Hi P1, sale! .*They are not on the list of opt-outs/,
    );
    expect(await look(numberOf(99))).toContain('Nothing was sent to');
    expect(await look('91000001')).toMatch(/There is a problem .*With \+ and its country code it is clear/);
    expect(await look('+65 1')).toContain('There is a problem');
    const out = await console.post('/people/opt', { number: numberOf(31), what: 'out' });
    expect(textOf(out)).toMatch(/Opted out\. .*They are on the list opt-outs\.csv : nothing is sent to them/);
    await console.aCampaign('after', people(2, 30));
    await send('after', 1);
    expect(console.sent('after')).toEqual([numberOf(30)]);
    expect(textOf(await console.post('/people/opt', { number: numberOf(31), what: 'in' }))).toContain(
      'not on the list of opt-outs',
    );
  });

  test('where a person is opted out the page names the message that the service holds, which its campaign takes back', async () => {
    await console.aCampaign('later', people(2, 80));
    const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    await console.save('/c/later/when', { when: 'at', day, time: '23:30', zone });
    await send('later', 2);
    const out = textOf(await console.post('/people/opt', { number: numberOf(80), what: 'out' }));
    expect(out).toMatch(
      /later accepted; it leaves on .* at 23:30 Asia.Tokyo .*unless its campaign is taken back before/,
    );
    expect(textOf(await console.post('/people/opt', { number: numberOf(89), what: 'out' }))).not.toContain(
      'taken back',
    );
  });

  test('a draft is deleted with its files, by typing its name; what has sent something stays, if only a test', async () => {
    for (const name of ['gone', 'tried', 'kept']) await console.aCampaign(name, people(2, 40));
    await console.check('gone');
    expect(textOf(await console.post('/c/gone/delete', { remove: 'sale' }))).toContain('Type gone to delete it');
    expect(await console.textAt('/c/gone')).toContain('Delete this draft');
    expect((await console.post('/c/gone/delete', { remove: 'gone' })).to).toBe('/');
    expect(readdirSync(join(console.directory, 'campaigns'))).not.toContain('gone');
    expect(readdirSync(join(console.directory, '.console'))).not.toContain('gone');
    expect(await home('?find=gone')).toContain('No campaign has “gone”');

    await console.post('/c/tried/test', { to: numberOf(99) });
    await console.until('/c/tried/test');
    await send('kept', 2);
    for (const name of ['tried', 'kept']) {
      expect(await console.textAt(`/c/${name}`)).not.toContain('Delete this draft');
      const stays = await console.post(`/c/${name}/delete`, { remove: name });
      expect(textOf(stays)).toContain('It stays: it has sent something');
    }
    // As after a prune, or damage.
    const output = join(console.directory, 'campaigns/kept/out/kept');
    for (const run of readdirSync(output).filter((each) => /^\d/.test(each)))
      rmSync(join(output, run, 'journal.ndjson'));
    expect(textOf(await console.post('/c/kept/delete', { remove: 'kept' }))).toContain('It stays');
  });

  test('settings say which account, senders and keys there are, and never a key', async () => {
    console.write(
      'service.yaml',
      'account: acme\nregion: europe\ncredentials: { apiKey: { env: VOLLEY_API_KEY }, sms: { apiKey: { env: NO_KEY } } }\n',
    );
    const page = await console.ask('/settings');
    expect(textOf(page)).toMatch(
      /account acme region europe subaccount acme_hq delivery receipts go to nowhere: .+ key from VOLLEY_API_KEY, present key of sms from NO_KEY, not set/,
    );
    expect(page.text).not.toContain(TEST_CREDENTIALS.apiKey);
    console.write('service.yaml', 'acount: acme\n');
    const wrong = await console.ask('/settings');
    expect(textOf(wrong)).toMatch(
      /Send them these lines: Please let our Volley console .* wrong with service\.yaml now: .*acount/,
    );
  });

  test('a campaign says who did what, the latest first', async () => {
    expect(await historyOf('sale')).toMatch(
      /^.*Tokyo: Anna started sending .*Anna checked it .*Anna wrote the message .*Anna chose sale\.csv/,
    );
    const press = () => console.post('/c/sale/check');
    await Promise.all([press(), press(), press()]);
    await console.checked('sale');
    expect((await historyOf('sale')).match(/checked it/g)).toHaveLength(2);
  });

  test('of a workbook with several sheets it asks which, and reads that one from then on', async () => {
    const rows = (from: number) => rowsOf(['name', 'mobile'], ['A', numberOf(from)], ['B', numberOf(from + 1)]);
    const sheets = [
      { name: 'Old', rows: rows(40) },
      { name: 'New & <b>', rows: rows(50) },
    ];
    const path = join(console.directory, 'people.xlsx');
    writeFileSync(path, aWorkbook({ sheets }));
    await console.post('/new', { name: 'Sheets' });
    expect((await console.post('/c/sheets/file', { path })).to).toBe('/c/sheets/columns');
    expect(await console.textAt('/c/sheets/columns')).toContain(
      'Which sheet has the people? people.xlsx has 2 sheets.',
    );
    for (const choice of [{ sheet: 'Old' }, { sheet: 'New & <b>', count: '1' }])
      expect((await console.post('/c/sheets/columns', choice)).to).toBe('/c/sheets/columns');
    expect(await console.textAt('/c/sheets/columns')).toContain('mobile has a valid number in 2 of 2 rows');
    await console.post('/c/sheets/columns', { sheet: 'New & <b>', destination: 'mobile', country: '' });
    const who = await console.ask('/c/sheets/who');
    expect(textOf(who)).toContain('In: 2 of the first 2 rows');
    await console.save('/c/sheets/message', { sender: 'LADEN', message: 'Hi' });
    await send('sheets', 2);
    expect(console.sent('sheets')).toEqual([numberOf(50), numberOf(51)]);
    expectSaid(await console.post('/c/sheets/columns', { sheet: 'None', destination: 'mobile' }), 422, 'None');
  });

  test('rows that a run of another file could not use are named where the newer ones are fixed, and taken there', async () => {
    await console.aCampaign('files', `${people(1, 60)}Eve,n/a\n`);
    await send('files', 1);
    const older = JSON.parse(console.read('.console/files/apply.out')).directory;
    await console.post('/c/files/file', { path: console.write('files2.csv', `${people(1, 70)}Dan,n/a\n`) });
    await console.check('files');
    expect(textOf(await console.checked('files'))).toMatch(/Only 1 person in new rows; 1 had it already, from /);
    await send('files', 1);
    const report = await console.ask('/c/files/run');
    expect(textOf(report)).toMatch(/Sent before, from other rows .*: 1 accepted/);
    expect(report.text).toMatch(new RegExp(`/c/files/run\\?run=${older.split('-').at(-1)}">.*: 1 accepted`));
    const page = await console.ask('/c/files/fix');
    expect(page.text).toContain(`<a href="run?run=${older.split('-').at(-1)}">1 row</a>`);
    expect(await console.textAt(`/c/files/run?run=${older.split('-').at(-1)}`)).toContain('1-sms.rejections.csv');
    const name = `${older.slice(console.directory.length + 1)}/1-sms.rejections.csv`;
    const fixed = console.read(name).replace('n/a', numberOf(61));
    expect((await console.upload('/c/files/fix/upload', 'old.csv', fixed)).to).toBe('/c/files/check');
    await console.send('files', 1);
    expect(console.sent('files')).toEqual([numberOf(60), numberOf(61), numberOf(70)]);
  });

  test('a field that is named like a tick and is none changes nothing', async () => {
    const odd = { '["': 'on', '["a"]': 'on', '["a",1,2]': 'on' };
    expect((await console.save('/c/after/who', odd)).status).toBe(303);
    expect(console.jobOf('after')).not.toContain('where');
  });
});

test('behind a proxy that names who asks there is no sign-in, and the settings name the users, but no password', {
  timeout: TIMEOUT_MS,
}, async () => {
  const console = new AConsole();
  const users = join(console.directory, 'users.csv');
  await console.addUsers(users, { Bob: 'approver', Cy: 'approver', Vera: 'viewer', Zoë: 'viewer' });
  const port = await findPort();
  const origin = 'https://volley.example.com';
  await console.start('--port', String(port), '--users', users, '--origin', origin, '--user-header', 'X-User');
  const ask = (path: string, user: string) =>
    new Promise<{ status: number | undefined; to: string | undefined; text: string }>((resolve, reject) => {
      const headers = { host: 'volley.example.com', 'x-user': user };
      get({ port, host: '127.0.0.1', path, headers }, async (answer) => {
        let text = '';
        for await (const piece of answer) text += piece;
        resolve({ status: answer.statusCode, to: answer.headers.location, text });
      }).on('error', reject);
    });
  expect(await ask('/enter', 'Vera')).toMatchObject({ status: 303, to: '/' });
  expect((await ask('/settings', 'Stranger')).status).toBe(403);
  const { text } = await ask('/settings', 'Vera');
  expect(textOf({ text })).toContain('Bob approver Cy approver Vera viewer Zoë viewer');
  // As proxies write it: in UTF-8.
  expect((await ask('/settings', Buffer.from('Zoë').toString('latin1'))).text).toContain('Zoë, viewer');
  for (const line of console.read('users.csv').trim().split('\n').slice(1))
    expect(text).not.toContain(line.split(',')[2]);
  await console.end();
});

test(
  'what the console keeps for itself is made again where a disk has damaged it, as is the output of a command that was cut',
  async () => {
    const console = new AConsole();
    await console.start();
    await console.enter();
    await console.aCampaign('sale', `${people(2)}no number,x\n`);
    await console.check('sale');
    await console.ask('/c/sale/fix');
    await console.ask('/');
    await console.end();
    const own = join(console.directory, '.console');
    const damaged = readdirSync(join(own, 'sale')).filter((name) => /\.(?:json|out)$/.test(name));
    expect(damaged).toEqual(expect.arrayContaining(['file.json', 'plan.json', 'plan.out']));
    for (const path of ['.campaigns.json', ...damaged.map((name) => join('sale', name))])
      writeFileSync(join(own, path), '{"state": "do');

    await console.start();
    await console.enter();
    for (const page of ['/', '/c/sale', '/c/sale/message', '/c/sale/check', '/c/sale/fix'])
      expect([page, (await console.ask(page)).status]).not.toEqual([page, 500]);
    expect((await console.check('sale')).plan).toMatch(/^\w{64}$/);
    expect(await console.textAt('/')).toContain('sale');
    await console.end();
  },
  TIMEOUT_MS,
);
