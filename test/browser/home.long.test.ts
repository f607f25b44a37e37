import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aWorkbook, rowsOf } from '../input/xlsx/a-workbook.js';
import { HOSTILE, inspect, openToVisits, PEOPLE } from './a-visit.js';

const TIMEOUT_MS = 300_000;

const { console, visit } = openToVisits();

test('the list of campaigns, a person, the settings and the sheets of a workbook can be read on a phone and a screen, whatever names are in them', {
  timeout: TIMEOUT_MS,
}, async () => {
  await console.aCampaign('sale', PEOPLE.replace('First Name', 'name'));
  await console.check('sale');
  await console.send('sale', 5);
  const { page, complaints, go, see, enter } = await visit();
  await enter('#find', HOSTILE[0] ?? '', 'text=No campaign has');
  await page.click('header >> text=People');
  await inspect(page);
  await enter('#number', '91234500', '.wrong');
  await page.fill('#number', '+6591234500');
  await page.keyboard.press('Enter');
  await page.waitForSelector('text=1 message to');
  expect(await page.locator('td').allInnerTexts()).toContain(`Hi ${HOSTILE[0]}, sale!`);
  await inspect(page);
  await see('button:has-text("Opt out")', 'text=Opted out.');
  await go('button:has-text("Opt in")', 'text=not on the list of opt-outs');
  await page.click('header >> text=Settings');
  await inspect(page);
  for (let at = 0; at < 60; at++)
    mkdirSync(join(console.directory, `campaigns/draft-${'long-'.repeat(9)}${at}`), { recursive: true });
  await page.click('text=Volley');
  await page.click('text=Next');
  await inspect(page);
  const sheets = HOSTILE.map((name) => ({ name: name.slice(0, 31), rows: rowsOf(['phone'], ['+6591234567']) }));
  writeFileSync(join(console.directory, 'sheets.xlsx'), aWorkbook({ sheets }));
  await page.fill('#name', 'sheets');
  await page.click('text=Start a campaign');
  await page.fill('#path', join(console.directory, 'sheets.xlsx'));
  await see('text=Use this file', 'h1:has-text("Which sheet has the people?")');
  await page.selectOption('#sheet', HOSTILE[1] ?? '');
  await see('text=Go on', '#destination');
  await page.goto(`${console.origin}/c/sheets`);
  await inspect(page);
  expect(complaints).toEqual([]);
  await page.close();
});

test('an empty file is refused at once, and another one is taken in its place', { timeout: TIMEOUT_MS }, async () => {
  const { page, complaints, go } = await visit();
  await page.fill('#name', 'empty');
  await page.click('text=Start a campaign');
  await page.setInputFiles('#file', console.write('empty.csv', ''));
  await go('text=Upload', '.wrong:has-text("Choose a file that has rows")');
  await page.setInputFiles('#file', console.write('people.csv', PEOPLE));
  await go('text=Upload', '**/columns');
  expect(complaints).toEqual([]);
});
