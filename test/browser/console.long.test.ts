import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AConsole } from '../console/a-console.js';
import { aBrowser } from './a-browser.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TIMEOUT_MS = 300_000;
/** Cells that some pages elsewhere ran or hid. */
const HOSTILE = ['<img src=x onerror=alert(1)>', '{{ 7 }}', '=cmd()', 'abc\u202Egnp', '"><script>alert(1)</script>'];
const PEOPLE = `First Name,Mobile,Fax\n${HOSTILE.map((name, at) => `"${name.replaceAll('"', '""')}",+6591234${500 + at},`).join('\n')}\nCy,n/a,\n`;
const NUMBERS = HOSTILE.map((_, at) => `+6591234${500 + at}`);

let browser: Browser;
const console = new AConsole();

beforeAll(async () => {
  await console.start();
  browser = await aBrowser();
}, TIMEOUT_MS);

afterAll(async () => {
  await browser?.close();
  await console.end();
}, TIMEOUT_MS);

/** Each page is looked at in all of them. */
const LOOKS = [
  { width: 768, colorScheme: 'light', isRead: false },
  { width: 1280, colorScheme: 'dark', isRead: true },
  { width: 360, colorScheme: 'light', isRead: true },
] as const;

test('a campaign goes from its file to the report, and every page can be read on a phone and a screen, by day and by night', {
  timeout: TIMEOUT_MS,
}, async () => {
  const campaign = 'sale';
  const { page, complaints } = await open({});
  await inspect(page);
  await page.fill('#name', campaign);
  await page.click('text=Start a campaign');
  await inspect(page);
  await page.setInputFiles('#file', console.write('people.csv', PEOPLE));
  await page.click('text=Upload');
  await page.waitForURL('**/columns');
  await inspect(page);
  await page.click('text=Save and go on');
  await page.waitForURL('**/message');
  await page.goBack();
  await page.waitForURL('**/columns');
  await page.goForward();
  await inspect(page);
  await page.fill('#message', 'Hi ');
  await page.click('text=+ First Name');
  await page.click('text=Save and show it');
  await page.waitForURL('**#messages');
  await inspect(page);
  expect(await page.locator('.phone blockquote').allInnerTexts()).toContain(`Hi ${HOSTILE[0]}`);
  await page.fill('#message', 'Hi {{ nme }}');
  await page.click('text=Save and show it');
  await page.waitForSelector('.wrong');
  await inspect(page);
  expect(await page.title()).toMatch(/^Error: /);
  await page.fill('#message', 'Hi {{ first_name }}');
  await page.click('text=Save and show it');
  await page.click('text=Go on to who gets it');
  await inspect(page);
  await page.click('summary:has-text("First Name")');
  for (const cell of ['<img', '{{ 7', '=cmd', 'gnp', '<script']) await page.click(`label:has-text("${cell}")`);
  await page.waitForSelector('text=In: 5 of the first 6 rows');
  await page.setInputFiles('#file', console.write('stop.csv', 'phone\n+6591234599\n'));
  await page.click('text=Save and show it');
  await page.waitForSelector('text=1 read in column phone');
  await inspect(page);
  await page.fill('#path', '/nowhere.csv');
  await page.click('text=Save and show it');
  await page.waitForSelector('.wrong');
  await inspect(page);
  await page.fill('#path', '');
  await page.click('text=Save and go on');
  await page.waitForURL('**/when');
  await inspect(page);
  await page.click('#when-at');
  await page.click('text=Save and show it');
  await page.waitForSelector('.wrong');
  await inspect(page);
  await page.click('#when-now');
  await page.fill('#sample', '40');
  await page.click('text=Save and go on');
  await page.waitForURL('**/check');
  await inspect(page);
  await page.click('main button');
  await page.waitForSelector('#count');
  await inspect(page);
  await page.fill('#count', '4');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.wrong');
  await inspect(page);
  await page.fill('#count', '2');
  await page.keyboard.press('Enter');
  await page.waitForSelector('h1:has-text("The sample is sent")');
  await inspect(page);
  await page.fill('#count', '3');
  // Both clicks, and a reload of what they lead to.
  await page.dblclick('text=Send >> nth=-1');
  await page.waitForURL('**/run');
  // It may be reloaded by itself just then.
  await page.reload().catch(() => {});
  await page.waitForSelector('h1:has-text("Report")');
  await inspect(page);
  await page.goto(`${console.origin}/c/${campaign}`);
  await inspect(page);
  await page.click('header a >> nth=0');
  await inspect(page);
  expect(console.sent(campaign)).toEqual(NUMBERS);
  expect(complaints).toEqual([]);
  await page.close();
});

test('without a script, and by the keyboard alone, the same path leads to the same messages', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { page } = await open({ javaScriptEnabled: false });
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
  await reach('#name');
  await page.keyboard.type('Keys');
  await press('Enter');
  await page.waitForURL('**/c/keys/file');
  await page.setInputFiles('#file', console.write('keys.csv', PEOPLE));
  await reach('button:text-is("Upload")');
  await press('Enter');
  await page.waitForURL('**/columns');
  await reach('#destination');
  await press('Tab', 'Tab', 'Enter');
  await page.waitForURL('**/message');
  await reach('a.next');
  await press('Enter');
  await page.waitForURL('**/who');
  await reach('button:text-is("Save and go on")');
  await press('Enter');
  await page.waitForURL('**/when');
  await reach('button:text-is("Save and go on")');
  await press('Enter');
  await page.waitForURL('**/check');
  await reach('main button');
  await press('Enter');
  // Pages of what is under way come again by themselves.
  await page.waitForSelector('#count');
  await reach('#count');
  await page.keyboard.type('5');
  await press('Enter');
  await page.waitForURL('**/run');
  await page.waitForSelector('h1:text-is("Report")');
  expect(console.sent('keys')).toEqual(NUMBERS);
  await page.close();
});

/** A browser that has opened the console by a link of its own. `complaints`: of its console, such as of what the policy forbids. */
async function open(options: BrowserContextOptions): Promise<{ page: Page; complaints: string[] }> {
  const { stdout } = await console.run('--link', '--json').ended;
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // A page that says what is wrong is answered with 422.
    if (!message.text().includes('status of 422')) complaints.push(message.text());
  });
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('dialog', (dialog) => complaints.push(dialog.message()));
  await page.goto(JSON.parse(stdout).link);
  return { page, complaints };
}

/** It needs no scrolling to the side, and axe finds nothing that hinders anyone. */
async function inspect(page: Page): Promise<void> {
  for (const { width, colorScheme, isRead } of LOOKS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    expect(await page.evaluate('document.documentElement.scrollWidth'), page.url()).toBeLessThanOrEqual(width);
    if (isRead) await read(page);
  }
}

async function read(page: Page): Promise<void> {
  // The policy of the page lets no script in: axe comes by the debugger.
  await page.evaluate(AXE);
  const { violations }: AxeResults = await page.evaluate('axe.run()');
  expect(
    violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
    page.url(),
  ).toEqual([]);
}
