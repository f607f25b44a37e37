import { describe, expect, test } from 'vitest';
import { numberOf, numbersOf, people } from '../e2e/a-job.js';
import { openAConsole, textOf } from './a-console.js';

const TIMEOUT_MS = 120_000;
const LOST = '436641234567';
const PEOPLE = `${people(3)}Dora,${LOST}\nEve,n/a\n`;

describe('rows that could not be used', { timeout: TIMEOUT_MS }, () => {
  const console = openAConsole();

  async function aChecked(name: string, rows = PEOPLE, country = 'SG') {
    await console.aCampaign(name, rows, country);
    return console.check(name);
  }

  const shown = (name: string) => console.textAt(`/c/${name}/fix`);

  const ROW = { 'cell-1-1': '+65 9100 0005', 'was-cell-1-1': 'n/a' };

  test('are fixed in place, checked, and sent once, however often each form is sent', async () => {
    await aChecked('run');
    await console.send('run', 3);
    expect(await console.textAt('/c/run/run')).toContain('Fix 2 rows that could not be used');
    expect(await shown('run')).toContain('0 fixed, 2 left.');
    expect((await console.ask('/c/run/fix')).text).toContain('<a href="/c/run">Back</a>');
    const form = await console.fixFormOf('run');
    const bad = await console.post('/c/run/fix', { ...form, ...ROW, 'cell-1-1': '+65 91' });
    expect([bad.status, textOf(bad)]).toEqual([422, expect.stringContaining('Line 6, mobile: The number has too few')]);
    for (const said of ['<a href="#cell-1-1">', 'value="+65 91"']) expect(bad.text).toContain(said);
    expect(await console.post('/c/run/fix', { ...form, ...ROW })).toMatchObject({ status: 303 });
    expect(await shown('run')).toMatch(/1 fixed, 1 left\. .*\(lost-plus\) 1 .* 0 .* Save Check the 1 /);
    expect(textOf(await console.post('/c/run/fix', { ...form, 'cell-0-1': LOST, 'was-cell-0-1': LOST }))).toContain(
      'Nothing was changed',
    );
    const press = () => console.post('/c/run/fix/check', form);
    expect((await Promise.all([press(), press()])).map(({ to }) => to)).toEqual(Array(2).fill('/c/run/check'));
    const checked = await console.checked('run');
    expect(textOf(checked)).toMatch(/Only 1 person corrected since; 3 had it already, from .* The whole report/);
    expect(await console.textAt('/')).toContain('Needs you run 1 message checked, not sent');
    expect((await console.ask('/')).text).toContain('href="/c/run/check"');
    expect(await console.textAt('/c/run')).toContain('Send the rest 1 message not sent yet');
    expect(await console.textAt('/c/run/run')).toContain('Send 1 message that is checked, and not sent yet.');
    const ended = await console.send('run', 1);
    expect(await console.textAt('/')).toContain('Done run');
    expect(textOf(ended)).toContain('the service accepted 4 messages');
    expect(console.sent('run')).toEqual([...numbersOf(3), numberOf(5)]);
    expect(await console.textAt('/c/run/who')).toContain('In: 5 of the first 5 rows');
    expect(await shown('run')).toContain('0 fixed, 1 left.');
    expect(await shown('run')).not.toMatch(/[0-9a-hjkmnp-tv-z]{20}-\d/);
    // An old tab.
    expect((await press()).status).toBe(409);
  });

  // In Germany the number would also be a landline without its 0.
  test.each(['SG', 'DE'])('are fixed before anything is sent, and go with the others, read in %s', async (country) => {
    const name = `draft-${country.toLowerCase()}`;
    await aChecked(name, PEOPLE, country);
    const form = await console.fixFormOf(name);
    await console.post(`/c/${name}/fix`, { ...form, ...ROW });
    await console.post(`/c/${name}/fix/check`, form);
    await console.checked(name);
    const check = await console.textAt(`/c/${name}/check`);
    expect(check).toMatch(/and why read 5 after rejections 4 1 to be sent 4/);
    expect(check).not.toContain('(not-a-number)');
    const { plan = '' } = await console.fixFormOf(name);
    expect(await shown(name)).toContain('0 fixed, 1 left.');
    expect(await shown(name)).toContain('Put + back in 1 ( show )');
    expect(await console.post(`/c/${name}/fix/put`, { plan, code: 'lost-plus' })).toMatchObject({ status: 303 });
    expect(await shown(name)).toContain('1 fixed, 0 left.');
    await console.post(`/c/${name}/fix/check`, { plan });
    await console.send(name, 5);
    expect(console.sent(name)).toEqual([`+${LOST}`, ...numbersOf(3), numberOf(5)]);
    expect(await shown(name)).toContain('Nothing is left to fix.');
  });

  test('have their cell to correct, whatever its case in the text; or go as they are once the text has words for them', async () => {
    await console.aCampaign('words', 'Name,mobile,City\nAnna,+6591234501,Bonn\n,+6591234502,Bonn\n');
    await console.check('words');
    expect(textOf(await console.send('words', 1))).toMatch(
      /one page 1-sms.rejections.csv : 1 row 1-sms.results.csv : 1 row /,
    );
    const fix = await console.ask('/c/words/fix');
    expect(fix.text.match(/aria-label="Line.*?"/g)).toEqual(['aria-label="Line 3, Name"']);
    expect(textOf(fix)).not.toContain('Check all');
    const message = "Hi {{ name | default: 'there' }}";
    await console.save('/c/words/message', { sender: 'LADEN', message });
    expect(await shown('words')).toContain('these rows may do as they are. Check all 1 again');
    const { plan = '' } = await console.fixFormOf('words');
    expect((await console.post('/c/words/fix/check', { plan, all: '1' })).to).toBe('/c/words/check');
    await console.send('words', 1);
    expect(console.sent('words')).toEqual(['+6591234501', '+6591234502']);
    expect(await shown('words')).toContain('Nothing is left to fix.');
  });

  test('are fixed in a spreadsheet, which must be that of the page', async () => {
    await aChecked('sheet');
    await console.send('sheet', 3);
    const sheet = await console.ask('/c/sheet/fix.csv');
    expect(sheet.headers.get('content-disposition')).toBe('attachment; filename="sheet-to-fix.csv"');
    const upload = (name: string, text: string) => console.upload('/c/sheet/fix/upload', name, text);
    const other = await upload('other.csv', 'name,mobile\nZoe,+6591000009\n');
    expect([other.status, textOf(other)]).toEqual([422, expect.stringContaining('not the spreadsheet of this page')]);
    const half = sheet.text.replace('n/a', '91000005').replace(LOST, '12');
    expect((await upload('fixed.csv', half)).to).toBe('/c/sheet/check');
    await console.send('sheet', 1);
    // It is refused by both runs, and left once.
    expect(await shown('sheet')).toMatch(/0 fixed, 1 left.*Dora/);
    const form = await console.fixFormOf('sheet');
    await console.post('/c/sheet/fix', { ...form, 'cell-0-1': `+${LOST}`, 'was-cell-0-1': '12' });
    await console.post('/c/sheet/fix/check', form);
    await console.send('sheet', 1);
    expect(console.sent('sheet')).toEqual([`+${LOST}`, ...numbersOf(3), numberOf(5)]);
    expect(await shown('sheet')).toContain('Nothing is left to fix.');
  });

  test('are separated as the file of the campaign, and read back', async () => {
    await aChecked('german', PEOPLE.replaceAll(',', ';'));
    await console.send('german', 3);
    const sheet = (await console.ask('/c/german/fix.csv')).text;
    expect(sheet).toMatch(/\nEve;n\/a;1;[./]*german\.csv;/);
    const corrected = sheet.replace('n/a', '91000005');
    expect((await console.upload('/c/german/fix/upload', 'fixed.csv', corrected)).to).toBe('/c/german/check');
    await console.send('german', 1);
    expect(console.sent('german')).toEqual([...numbersOf(3), numberOf(5)]);
    // The first file is still the person's own.
    expect((await console.ask('/c/german/fix.csv')).text).toContain(`Dora;${LOST};`);
  });

  test('come back with their umlauts from a spreadsheet that saved them in windows-1252', async () => {
    await aChecked('umlauts', `${people(1)}Jürgen Groß,n/a\n`);
    await console.send('umlauts', 1);
    const sheet = (await console.ask('/c/umlauts/fix.csv')).text.replace(/^\uFEFF/, '').replace('n/a', numberOf(2));
    // A spreadsheet of that country separates by semicolons.
    const saved = new Uint8Array(Buffer.from(sheet.replaceAll(',', ';'), 'latin1'));
    expect((await console.upload('/c/umlauts/fix/upload', 'fixed.csv', saved)).to).toBe('/c/umlauts/check');
    expect(textOf(await console.checked('umlauts'))).toContain('Hi Jürgen Groß, umlauts!');
    await console.send('umlauts', 1);
    expect(console.sent('umlauts')).toEqual([...numbersOf(1), numberOf(2)]);
  });

  test('of two people who change one cell, the second is shown what the first wrote', async () => {
    await aChecked('both');
    const form = await console.fixFormOf('both');
    await console.post('/c/both/fix', { ...form, ...ROW });
    const second = await console.post('/c/both/fix', { ...form, ...ROW, 'cell-1-1': '+65 9100 0006' });
    expect([second.status, textOf(second)]).toEqual([409, expect.stringContaining('It now says: “+65 9100 0005”')]);
    expect(second.text).toContain('value="+65 9100 0006"');
    const other = await console.post('/c/both/fix', { ...form, plan: 'another', ...ROW, 'cell-1-1': '+65 9100 0007' });
    expect([other.status, other.text]).toEqual([409, expect.stringContaining('value="+65 9100 0007"')]);
  });
});
