import { expect, test } from 'vitest';
import { TEST_CREDENTIALS } from '../../src/sandbox/admission.js';
import { arrive, FIXED, HOSTILE, inspect, isFaint, measureRings, NUMBERS, openToVisits, PEOPLE } from './a-visit.js';

const TIMEOUT_MS = 300_000;

const { console, visit } = openToVisits({ VOLLEY_API_KEY: TEST_CREDENTIALS.apiKey });

test('a campaign goes from its file to the report, and every page can be read on a phone and a screen, by day and by night', {
  timeout: TIMEOUT_MS,
}, async () => {
  const campaign = 'sale';
  const { page, complaints, go, see, enter } = await visit();
  await inspect(page);
  await page.fill('#name', campaign);
  await page.click('text=Start a campaign');
  await inspect(page);
  await page.setInputFiles('#file', console.write('people.csv', PEOPLE));
  await see('text=Upload', '**/columns');
  await page.fill('#country', 'Singapore');
  await page.keyboard.press('Tab');
  await page.waitForSelector('text=those without + as numbers of Singapore');
  await go('text=Save and go on', '**/message');
  await page.goBack();
  await page.waitForURL('**/columns');
  await page.goForward();
  await page.fill('#sender', 'LADEN');
  await page.fill('#message', 'Hi ');
  await page.click('text=+ First Name');
  await see('text=Save and show it', '**#messages');
  expect(await page.locator('.phone blockquote').allInnerTexts()).toContain(`Hi ${HOSTILE[0]}`);
  await page.fill('#message', 'Hi {{ nme }}');
  await see('text=Save and show it', '.wrong');
  expect(await page.title()).toMatch(/^Error: /);
  await page.fill('#message', 'Hi {{ first_name }}');
  await see('text=Save and go on', '**/who');
  await page.click('summary:has-text("First Name")');
  for (const cell of ['<img', '{{ 7', '=cmd', 'gnp', '<script']) await page.click(`label:has-text("${cell}")`);
  await page.waitForSelector('text=In: 5 of the first 6 rows');
  await page.setInputFiles('#file', console.write('stop.csv', 'phone\n+6591234599\n'));
  await see('text=Save and show it', 'text=1 read in column phone');
  await page.fill('#path', '/nowhere.csv');
  await go('text=Save and show it', '.wrong');
  await page.fill('#path', '');
  await see('text=Save and go on', '**/when');
  await page.click('#when-at');
  await see('text=Save and show it', '.wrong');
  await page.click('#when-now');
  await page.fill('#sample', '40');
  await go('text=Save and go on', '**/check');
  await page.goto(`${console.origin}/c/${campaign}/test`);
  await inspect(page);
  await go('text=Send the test', '.wrong');
  await page.fill('#to', '+6591239999');
  await see('text=Send the test', 'text=The last test: 1 message accepted');
  await see('text=Go on to the check', '**/check');
  await see('main button', '#count');
  await enter('#count', '4', '.wrong');
  await enter('#count', '2', 'h1:has-text("The sample is sent")');
  await page.fill('#count', '3');
  // Both clicks, and a reload of what they lead to.
  await page.dblclick('button:text-is("Send the rest")');
  await page.waitForSelector('h1:not(:has-text("The sample is sent"))');
  // It may be reloaded by itself just then.
  await page.reload().catch(() => {});
  await page.waitForSelector('h1:has-text("Report")');
  await inspect(page);
  await page.goto(`${console.origin}/c/${campaign}`);
  await inspect(page);
  await see('text=Make a live copy', 'text=Send them these lines');
  console.write('service.yaml', 'account: acme\ncredentials: { apiKey: { env: NO_SUCH_KEY } }\n');
  await see('text=Make a live copy', '.banner.live');
  await page.click('header a >> nth=0');
  await inspect(page);
  expect(console.sent(campaign)).toEqual([...NUMBERS, '+6591239999'].sort());
  expect(complaints).toEqual([]);
  await page.close();
});

test('a ring that is faint, thin or not there at all is found', { timeout: TIMEOUT_MS }, async () => {
  const { page } = await visit();
  const drawAs = async (outline: string) => {
    await page.evaluate(`for (const each of document.querySelectorAll('*')) each.style.outline = '${outline}'`);
    return (await measureRings(page)).filter(isFaint).length;
  };
  const all = (await measureRings(page)).length;
  expect(all).toBeGreaterThanOrEqual(6);
  expect(await drawAs('3px solid #999')).toBe(all);
  expect(await drawAs('1px solid #000')).toBe(all);
  expect(await drawAs('none')).toBe(all);
  expect(await drawAs('3px solid #767676')).toBe(0);
  await page.close();
});

test('no page of the way from the list to the report has more to load than three seconds take at 50 KB a second', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { page } = await visit();
  const client = await page.context().newCDPSession(page);
  const loads: { page: string; bytes: number }[] = [];
  let bytes = 0;
  client.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await client.send('Network.enable');
  // Those of the campaign that was sent before.
  const pages = ['file', 'columns', 'message', 'who', 'when', 'check', 'run'];
  for (const path of ['/', ...pages.map((each) => `/c/sale/${each}`)]) {
    bytes = 0;
    await page.goto(`${console.origin}${path}`, { waitUntil: 'networkidle' });
    loads.push({ page: path, bytes });
  }
  process.stdout.write(loads.map((each) => `${each.page}: ${each.bytes} bytes\n`).join(''));
  expect(loads.filter((each) => each.bytes > 150_000 || each.bytes < 10_000)).toEqual([]);
  await page.close();
});

test('without a script, and by the keyboard alone, the same path leads to the same messages', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { page } = await visit({ javaScriptEnabled: false });
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  /** Tabs to what has this name. */
  const reach = async (selector: string) => {
    for (let tabs = 0; tabs < 60; tabs++) {
      await press('Tab');
      if ((await page.locator(`${selector}:focus`).count()) > 0) return;
    }
    throw new Error(`${selector} cannot be reached by Tab`);
  };
  const follow = async (selector: string, then: string) => {
    await reach(selector);
    await press('Enter');
    await arrive(page, then);
  };
  await reach('#name');
  await page.keyboard.type('Keys');
  await press('Enter');
  await page.waitForURL('**/c/keys/file');
  await page.setInputFiles('#file', console.write('keys.csv', PEOPLE));
  await follow('button:text-is("Upload")', '**/columns');
  await reach('#destination');
  await press('Tab', 'Tab', 'Enter');
  await page.waitForURL('**/message');
  await reach('#sender');
  await page.keyboard.type('LADEN');
  await reach('#message');
  await page.keyboard.type('Hi!');
  await follow('button:text-is("Save and go on")', '**/who');
  await follow('button:text-is("Save and go on")', '**/when');
  await follow('button:text-is("Save and go on")', '**/check');
  await reach('main button');
  await press('Enter');
  // Pages of what is under way come again by themselves.
  await page.waitForSelector('#count');
  await reach('#count');
  await page.keyboard.type('5');
  await press('Enter');
  await page.waitForURL('**/run');
  await page.waitForSelector('h1:text-is("Report")');
  await follow('a[href="/c/keys/fix"]', '**/fix');
  await reach('#cell-0-1');
  await page.keyboard.type(FIXED);
  await press('Enter');
  await page.waitForSelector('button:text-is("Check the 1")');
  await follow('button:text-is("Check the 1")', '#count');
  await reach('#count');
  await page.keyboard.type('1');
  await press('Enter');
  await page.waitForSelector('text=the service accepted 6 messages');
  expect(console.sent('keys')).toEqual([...NUMBERS, FIXED]);
  await page.close();
});
