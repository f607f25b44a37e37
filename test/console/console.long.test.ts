import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { quoteWord } from '../../src/domain/errors.js';
import { numberOf, numbersOf, people } from '../e2e/a-job.js';
import { COMMAND } from '../e2e/command.js';
import { AConsole, expectSaid, fieldOf, textOf } from './a-console.js';

const TIMEOUT_MS = 120_000;
const PEOPLE = `${people(3)}Nobody,n/a\n`;

describe('a console', { timeout: TIMEOUT_MS }, () => {
  const console = new AConsole();

  beforeAll(async () => {
    await console.start();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await console.end();
  }, TIMEOUT_MS);

  test('lets in who has its link, once; another is printed on request', async () => {
    expect((await console.ask('/')).status).toBe(401);
    const script = { headers: { accept: 'application/json' } };
    const unknown = await console.ask('/c/x/slices', script);
    expect([unknown.status, JSON.parse(unknown.text).said]).toEqual([401, expect.stringContaining('not known here')]);
    expect(await console.enter()).toMatchObject({ status: 303, to: '/' });
    const again = await console.ask(console.link.slice(console.origin.length));
    const command = `node ${quoteWord(COMMAND)} console --link --directory ${console.directory}`;
    expect([again.status, textOf(again)]).toEqual([403, expect.stringContaining(`\`${command}\` prints another`)]);

    const { stdout } = await console.run('--link', '--json').ended;
    const { link } = JSON.parse(stdout);
    expect(await console.ask(link.slice(console.origin.length))).toMatchObject({ status: 303 });
  });

  test('answers each page with headers that let nothing else run', async () => {
    const { headers } = await console.ask('/');
    expect(headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('same-origin');
  });

  test('refuses a form without the token of the visit', async () => {
    expect((await console.ask('/new', { fields: { name: 'stolen' } })).status).toBe(403);
    expect(await console.textAt('/')).not.toContain('stolen');
  });

  test('takes a campaign from its file to the report, and sends each message once however often Send is pressed', async () => {
    await console.aCampaign('sale', PEOPLE);
    expect(console.files('sale')).toContain('job.yaml');
    const checked = await console.check('sale');
    for (const said of ['3 people · from LADEN', 'line 5, mobile']) expect(textOf(checked)).toContain(said);
    expect(textOf(checked)).toContain('Hi P1, sale!');
    expect(textOf(checked)).toContain('3 SMS parts. What they cost is not shown: this campaign has no prices.');
    expect(textOf(checked)).toContain('You may send a test to your own phone first.');

    const wrong = await console.post('/c/sale/send', { plan: checked.plan, count: '4' });
    expectSaid(wrong, 422, 'Type 3 to send');
    expect(wrong.text).toContain('<title>Error: Check');
    expect(wrong.text).toContain('<a href="#count">Type 3 to send: this is how many get it</a>');
    expect(wrong.text).toMatch(
      /id="count-fault">Type 3 to send.*<input id="count"[^>]* aria-invalid="true" aria-describedby="count-fault"/,
    );
    expect((await console.post('/c/sale/send', { plan: 'another', count: '3' })).status).toBe(409);

    const press = () => console.post('/c/sale/send', { plan: checked.plan, count: '3' });
    expect((await Promise.all([press(), press(), press()])).map(({ to }) => to)).toEqual(Array(3).fill('/c/sale/run'));
    const ended = await console.ended('sale');
    expect((await press()).to).toBe('/c/sale/run');
    expect(textOf(ended)).toContain('the service accepted 3 messages');
    expect(console.sent('sale')).toEqual(numbersOf(3));
    expect(await console.textAt('/')).toContain('Done sale 3 messages accepted of 4 rows');

    const results = await console.ask('/c/sale/out/1-sms.results.csv');
    expect(console.jobOf('sale')).toContain('bom: true');
    expect(results.headers.get('content-disposition')).toBe('attachment; filename="1-sms.results.csv"');
    expect((await console.ask('/c/sale/out/plan.json')).status).toBe(404);
    expect((await console.ask('/c/sale/out/..%2F..%2Fjob.yaml')).status).toBe(404);
  });

  test('writes only to people with a value that was ticked, and to no one on a list', async () => {
    const rows = ['A,+6591234001,yes', 'B,+6591234002,no', 'C,+6591234003,yes', 'D,+6591234004,'];
    await console.aCampaign('who', `name,mobile,agreed\n${rows.join('\n')}\n`);
    const shown = await console.ask('/c/who/who');
    expect(textOf(shown)).toContain(
      'No list of people who opted out is used, except that of those who opted out of all campaigns. Is that right?',
    );
    const sha256 = fieldOf(shown, 'sha256');
    const path = console.write('stop.csv', 'phone\n+6591234003\n');
    const tick = { '["agreed","yes"]': 'on' };
    expect(await console.count('/c/who/who', tick)).toBe('In: 2 of the first 4 rows. agreed: yes leaves 2.');
    expectSaid(await console.post('/c/who/who', { sha256, ...tick, '["agreed",""]': 'on' }), 422, 'tick blank alone');
    expectSaid(await console.post('/c/who/who', { sha256, path: '/nowhere.csv' }), 422, 'no file /nowhere.csv');

    expect((await console.post('/c/who/who', { sha256, ...tick, path })).to).toBe('/c/who/who');
    const saved = await console.ask('/c/who/who');
    expect(textOf(saved)).toContain('1 read in column phone · 1 found among the first recipients');
    expectSaid(await console.post('/c/who/who', { sha256 }), 409, 'It now goes to: agreed: yes');

    const checked = await console.check('who');
    await console.post('/c/who/send', { plan: checked.plan, count: '1' });
    await console.ended('who');
    expect(console.sent('who')).toEqual(['+6591234001']);
    expect((await console.save('/c/who/who', { next: '1' })).to).toBe('/c/who/when');
    expect(console.jobOf('who')).not.toMatch(/^ +(where|suppress):/m);
  });

  test('sends a sample first, and the rest to those of whom the number was typed, once', async () => {
    await console.aCampaign('sample', people(20));
    const write = (fields: Record<string, string>) => console.save('/c/sample/when', fields);
    const both = { when: 'at', day: '2026-12-01', time: '10:00', zone: 'Asia/Singapore', sample: '10' };
    expectSaid(await write(both), 422, 'Choose a time or a sample');
    const hours = { when: 'window', from: '20:00', to: '09:00', 'day-mon': 'on', next: '1' };
    expect((await write(hours)).to).toBe('/c/sample/when');
    expectSaid(await console.ask('/c/sample/when'), 422, 'does not reach over midnight');
    const old = await console.formOf('/c/sample/when');
    expect((await write({ when: 'now', sample: '10', next: '1' })).to).toBe('/c/sample/check');
    expectSaid(await console.post('/c/sample/when', { ...old, when: 'now' }), 409, 'It now says: 10% first');

    const { plan, ...checked } = await console.check('sample');
    expect(textOf(checked)).toContain('2 people first, of 20');
    await console.post('/c/sample/send', { plan, count: '2' });
    const sample = await console.ended('sample');
    expect(textOf(sample)).toContain('Type 18 to send the rest');
    expect(console.sent('sample').length).toBe(2);
    const wrong = await console.post('/c/sample/go-on', { stage: '1', count: '20' });
    expect([wrong.status, (await console.post('/c/sample/go-on')).status]).toEqual([422, 422]);
    expect(console.sent('sample').length).toBe(2);
    const press = () => console.post('/c/sample/go-on', { stage: '1', count: '18' });
    await Promise.all([press(), press()]);
    // It begins, and its page will follow; or it can be stopped; or it is over.
    expect((await console.ask('/c/sample/run')).text).toMatch(/Sending begins|Stop for now|<h1>Report/);
    expect(textOf(await console.ended('sample'))).toContain('the service accepted 20 messages');
    await press();
    await console.ended('sample');
    expect(console.sent('sample')).toEqual(numbersOf(20));
  });

  test('holds who had the text in another campaign, and keeps what was decided when another file is chosen', async () => {
    await console.aCampaign('grown', people(3));
    await console.save('/c/grown/message', { sender: 'LADEN', message: 'Hi {{ name }}, sale!' });
    console.changeJob('grown', (job) => `${job}    window: { from: "00:00", to: "24:00", timeZone: UTC }\n`);
    await console.post('/c/grown/file', {
      path: console.write('grown.csv', `phone,name\n${numberOf(9)},P9\n${numberOf(1)},P1\n`),
    });
    expect(console.jobOf('grown')).toContain('window: { from: "00:00"');
    const checked = await console.check('grown');
    for (const said of ['1 person · from LADEN', '1 had exactly this text']) expect(textOf(checked)).toContain(said);
  });

  test('keeps who, when and what must hold when the column is chosen again', async () => {
    await console.aCampaign('again', 'name,mobile,phone,agreed\nA,+6591234001,+6591234009,yes\nB,+6591234002,,no\n');
    await console.post('/c/again/columns', { destination: 'mobile' });
    const list = console.write('stop2.csv', 'phone\n+6591234002\n');
    await console.save('/c/again/who', { '["agreed","yes"]': 'on', path: list });
    await console.save('/c/again/when', { sample: '50' });
    console.changeJob('again', (job) => `${job}\nguards: { requireApproval: 1 }\n`);
    expect((await console.post('/c/again/columns', { destination: 'phone' })).to).toBe('/c/again/message');
    const job = console.jobOf('again');
    for (const kept of ['agreed: yes', 'stop2.csv', 'share: 50%', 'requireApproval: 1', 'destination: phone'])
      expect(job).toContain(kept);
  });

  test('sends a test to own phones once a press, and all people afterwards', async () => {
    await console.aCampaign('trial', people(2));
    const shown = await console.ask('/c/trial/test');
    expectSaid(await console.post('/c/trial/test', { to: ' ' }), 422, 'Give a number');
    const last = fieldOf(shown, 'last');
    const press = (numbers: string) => console.post('/c/trial/test', { last, to: numbers });
    const typed = '+6591239999; 12, --help';
    const refused = await press(typed);
    expect(textOf(refused)).toContain(
      'There is a problem “12” is not a phone number “--help” is not a phone number With +',
    );
    expect(refused.text).toContain(`value="${typed}"`);
    await Promise.all([press('+6591239999'), press('+6591239999')]);
    expect(textOf(await console.tested('trial'))).toContain('The last test: 1 message accepted');
    expect((await console.ask('/c/trial/test')).text).toContain('value="+6591239999"');
    await press('+6591239999');
    await console.tested('trial');
    expect(console.sent('trial')).toEqual(['+6591239999']);
    const { plan } = await console.check('trial');
    await console.post('/c/trial/send', { plan, count: '2' });
    await console.ended('trial');
    expect(console.sent('trial')).toEqual([...numbersOf(2), '+6591239999'].sort());
  });

  test('a live copy is another campaign, of the account that an admin wrote; without its key nothing is sent', async () => {
    await console.aCampaign('real', people(2));
    const refused = await console.post('/c/real/live');
    expect([refused.status, textOf(refused)]).toEqual([
      422,
      expect.stringMatching(/this console has no account to send from .* Send them these lines: .*VOLLEY_API_KEY/),
    ]);
    console.write('service.yaml', 'sandbox: true\n');
    expect(textOf(await console.post('/c/real/live'))).toContain('it has no account, or no credentials');
    console.write('service.yaml', 'account: acme\n');
    expect((await console.post('/c/real/live')).status).toBe(422);
    console.write('service.yaml', 'account: acme\nregion: europe\ncredentials: { apiKey: { env: NO_SUCH_KEY } }\n');
    expect((await console.post('/c/real/live')).to).toBe('/c/real-live');
    const tasks = await console.ask('/c/real-live');
    expect(textOf(tasks)).toContain('the environment variable NO_SUCH_KEY is not set');
    expect(tasks.text).toContain('<b>Live: acme, europe</b>');
    expect((await console.ask('/c/real')).text).toContain('<b>Sandbox</b>');
    const whole = console.jobOf('real-live');
    expect(whole).toContain('Hi {{ name }}, real!');
    expect((await console.post('/c/real-live/live')).to).toBe('/c/real-live');
    await console.post('/c/real-live/columns', { destination: 'mobile' });
    console.changeJob('real-live', (job) => job.replace('kind: sms', 'kind: sms\n    batchSize: none'));
    expect(await console.textAt('/c/real-live')).toContain('batchSize');
    console.changeJob('real-live', () => whole);
    const { plan } = await console.check('real-live');
    await console.post('/c/real-live/send', { plan, count: '2' });
    expect((await console.ended('real-live')).to).toBe('/c/real-live/check');
    expectSaid(await console.ask('/c/real-live/check'), 422, 'NO_SUCH_KEY is not set');
  });

  test('notices two who edit, and a check that the campaign was changed after', async () => {
    await console.aCampaign('edited', 'name,mobile,agreed\nA,+6591234001,yes\nB,+6591234002,no\n');
    const { plan, ...checked } = await console.check('edited');
    expect(textOf(checked)).toContain('The column agreed is not used');
    const form = { ...(await console.formOf('/c/edited/message')), sender: 'LADEN' };
    const first = await console.post('/c/edited/message', { ...form, message: 'Mine' });
    const second = await console.post('/c/edited/message', { ...form, message: 'Theirs' });
    expect([first.status, second.status]).toEqual([303, 409]);
    expect(textOf(second)).toContain('It now says: “Mine”');
    expect(second.text).toContain('Theirs</textarea>');

    const stale = await console.ask('/c/edited/check');
    expect(textOf(stale)).toContain('was changed since this check');
    expect(textOf(stale)).not.toContain('is not used');
    expect((await console.post('/c/edited/send', { plan, count: '3' })).status).toBe(409);
  });

  test('keeps what a person wrote into the job file, and changes no job that it does not know whole', async () => {
    await console.aCampaign('hand', PEOPLE);
    expect(console.jobOf('hand')).toContain('# what the phone shows as sender');
    console.changeJob('hand', (job) => `${job}\nguards: { maxRejectedPercent: 90 }\n`);
    const before = console.jobOf('hand');
    const shown = await console.ask('/c/hand/message');
    expect(textOf(shown)).toContain('It has what these pages do not show: guards');
    await console.post('/c/hand/message', { sha256: '', sender: 'X', message: 'Y' });
    await console.post('/c/hand/file', { path: console.write('other.csv', people(1)) });
    await console.post('/c/hand/columns', { destination: 'mobile', country: 'DE' });
    expect(console.jobOf('hand')).toBe(before);
    expect(textOf(await console.check('hand'))).toContain('3 people');
  });

  test('says of a bad file, path, column and text what the command says, beside what is to be changed', async () => {
    await console.post('/new', { name: 'Faults' });
    const said = async (path: string, fields: Record<string, string>) => {
      const { status, text } = await console.post(path, fields);
      expect(status).toBe(422);
      return /class="wrong".*?<\/ul>/s.exec(text)?.[0].replace(/<[^>]+>/g, ' ');
    };
    expect(await said('/new', { name: '  ' })).toContain('Give the campaign a name');
    const at = '/c/faults';
    expect(await said(`${at}/file`, { path: 'people.csv' })).toContain('the whole path');
    expect(await said(`${at}/file`, { path: '/nowhere.csv' })).toContain('no file /nowhere.csv');
    const quote = console.write('quote.csv', 'name,mobile\n"Anna,+6591234567\n');
    expect(await said(`${at}/file`, { path: quote })).toContain('quote');
    const two = console.write('two.csv', 'mobile,phone\n+6591234567,+6591234568\n');
    expect(await console.post(`${at}/file`, { path: two })).toMatchObject({ to: `${at}/columns` });
    expect(await console.textAt(`${at}/columns`)).toContain('mobile has a valid number in 1 of 1 row');
    expect(await said(`${at}/columns`, { destination: '' })).toContain('Choose the column');
    expect(await said(`${at}/columns`, { destination: 'phone', country: 'ZZ' })).toContain('ZZ');
    await console.post(`${at}/columns`, { destination: 'phone', country: 'Germany' });
    expect(console.jobOf('faults')).toContain('country: DE');
    await console.post(`${at}/columns`, { destination: 'phone', country: '' });
    const unwritten = await console.post(`${at}/check`);
    expect(textOf(unwritten)).toContain('The message is not written yet');
    const empty = textOf(await console.save(`${at}/message`, { sender: ' ', message: ' ' }));
    expect(empty).toContain('There is a problem Say whom it is from Write the message');
    const unfilled = { sender: 'LADEN', message: 'Hi {{ nme }}', next: '1' };
    expect((await console.save(`${at}/message`, unfilled)).to).toBe(`${at}/message#messages`);
    expect(await console.textAt(`${at}/message`)).toContain('nme');
  });
});

test('a run does not end when its console is killed, and the next one shows it', { timeout: TIMEOUT_MS }, async () => {
  const first = new AConsole();
  await first.startProcess();
  await first.enter();
  await first.aCampaign('sale', people(200));
  const { plan } = await first.check('sale');
  await first.post('/c/sale/send', { plan, count: '200' });
  await first.end('SIGKILL');
  await first.startProcess();
  expect(await first.enter()).toMatchObject({ status: 303 });
  await first.ended('sale');
  expect(first.sent('sale')).toEqual(numbersOf(200));
  expect(await first.end()).toBe(0);
});
