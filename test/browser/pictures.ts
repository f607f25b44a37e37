import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { aBrowser } from './a-browser.js';

// `npm run pictures`: those of README.md, of a campaign of sample rows in the console as it was built.

const PICTURES = resolve('jobs/pictures');
const PEOPLE = resolve('samples/recipients/01-singapore-malaysia.csv');

const directory = mkdtempSync(join(tmpdir(), 'pictures-'));
const child = spawn(process.execPath, ['dist/cli.js', 'console', '--directory', directory, '--port', '0', '--json'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const browser = await aBrowser();
try {
  const { value: first } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const { link } = JSON.parse(first);
  const page = await browser.newPage({ viewport: { width: 1000, height: 800 }, deviceScaleFactor: 1.5 });
  await page.goto(link);
  await page.fill('#name', 'autumn-sale');
  await page.click('text=Start a campaign');
  await page.fill('#path', PEOPLE);
  await page.click('#path ~ button, form:has(#path) button');
  await page.waitForURL(/columns|message/);
  await page.click('text=Save and go on');
  await page.fill('#sender', 'LADEN');
  await page.fill('#message', "Hi {{ first_name | default: 'there' }}, 20 % off all week. Reply STOP to end.");
  await page.click('text=Save and show it');
  await page.goto(page.url().replace(/message.*$/, 'check'));
  await page.click('button:has-text("Check")');
  await page.waitForSelector('#count', { timeout: 60_000 });
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, 'check.png') });
  const count = /Type (\d+)/.exec(await page.innerText('main'))?.[1] ?? '';
  await page.fill('#count', count);
  await page.click('button:has-text("Send")');
  await page.waitForSelector('h1:has-text("Report")', { timeout: 120_000 });
  await page.screenshot({ path: join(PICTURES, 'report.png') });
} finally {
  await browser.close();
  child.kill();
}
