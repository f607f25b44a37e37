import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Summary } from '../../src/report/summary.js';
import { aContactsStep, aJob, anSmsStep, numberOf, people } from '../e2e/a-job.js';
import { aWorkspaceInProcess } from '../e2e/a-workspace.js';
import { aReceipt } from '../listen/events.js';
import { oneIn } from '../one-in.js';
import { aBrowser } from './a-browser.js';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

let browser: Browser;
let summary: Summary;
let url: string;
let proofUrl: string;

/** A run with a row of every outcome, and a step that came through whole. */
beforeAll(async () => {
  const workspace = await aWorkspaceInProcess({ kind: 'reset-after', nth: 2, area: 'sms' });
  workspace.write('people.csv', `${people(60)}Nobody,n/a\nAgain,${numberOf(1)}\n<b>Mark</b>,+6591\n`);
  workspace.write('prices.csv', 'country,sms\nSG,0.0136360\n');
  const prices = { file: 'prices.csv', currency: 'EUR' };
  workspace.writeJob(aJob(workspace, { steps: [aContactsStep(), anSmsStep()], prices }));
  const ran = await workspace.run();
  const { directory, plan } = ran.summary;
  const receipts = [30, 31, 32].map((row) => {
    const payload = { clientMessageId: `${plan}-2-${row}`, destination: numberOf(row + 1) };
    return `${JSON.stringify({ format: 1, kind: 'receipt', id: `r-${row}`, event: aReceipt({ payload }) })}\n`;
  });
  workspace.write(`${workspace.runOf(plan)}/receipts.ndjson`, receipts.join(''));
  ({ summary } = await workspace.volley('report', directory));
  url = pathToFileURL(`${summary.directory}/report.html`).href;
  proofUrl = pathToFileURL(JSON.parse((await workspace.volley('proof', directory)).stdout).page).href;
  browser = await aBrowser();
}, 120_000);

afterAll(() => browser?.close());

const LOOKS = [
  { name: 'a phone', width: 360, colorScheme: 'light', media: 'screen' },
  { name: 'a tablet in the dark', width: 768, colorScheme: 'dark', media: 'screen' },
  { name: 'a wide screen', width: 1280, colorScheme: 'light', media: 'screen' },
  { name: 'paper', width: 800, colorScheme: 'light', media: 'print' },
  { name: 'paper of a machine that is dark', width: 800, colorScheme: 'dark', media: 'print' },
] as const;

test.each(oneIn(2, LOOKS))('on $name everybody can read it, without scrolling to the side', async (look) => {
  const page = await open(look);
  try {
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(look.width);
    await page.addScriptTag({ path: AXE });
    const { violations, passes }: AxeResults = await page.evaluate('axe.run()');
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    expect(passes.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['color-contrast', 'document-title', 'svg-img-alt']),
    );
  } finally {
    await page.close();
  }
});

test('its figures are those of summary.json', async () => {
  const page = await open(LOOKS[2]);
  const text = (selector: string) => page.locator(selector).allInnerTexts();
  const rowsOf = async (name: string) =>
    (await text(`[aria-label="${name}"] tbody tr`)).map((row) => row.split(/\t/).map((cell) => cell.trim()));

  const { balance, steps } = summary;
  expect(balance).toMatchObject({ inDoubt: 10, accepted: 111, rejected: 4, skipped: 1 });
  expect(await rowsOf('Rows by step and outcome')).toEqual(
    [...steps.map((step) => [`${step.number} ${step.kind}`, step.balance] as const), ['total', balance] as const].map(
      ([name, of]) => [name, ...[of.read, of.accepted, of.rejected, of.skipped, of.inDoubt].map(String)],
    ),
  );
  expect((await text('.legend li')).map((line) => line.replace(/\s+/g, ' ').trim())).toEqual([
    expect.stringMatching(`^${balance.accepted} accepted`),
    expect.stringMatching(`^${balance.rejected} rejected`),
    expect.stringMatching(`^${balance.inDoubt} in doubt`),
  ]);
  expect(await text('main > p')).toContain(`Audience: ${balance.read - balance.skipped} of ${balance.read} rows read.`);
  const stages = (steps[1]?.funnel ?? []).filter(({ omitted }) => omitted > 0).map(({ left }) => left);
  const reached = await rowsOf('2 sms: from the rows read to the people reached');
  expect(reached.map(([, rows]) => Number(rows))).toEqual([
    ...[steps[1]?.balance.read, ...stages],
    ...[steps[1]?.balance.accepted, summary.deliveries?.delivered],
  ]);
  for (const { number, kind, rejections } of steps) {
    const rows = await rowsOf(`${number} ${kind}: why rows were rejected`);
    expect(
      Object.fromEntries(rows.map(([why = '', count]) => [/\(([^()]+)\)$/.exec(why)?.[1], Number(count)])),
    ).toEqual(rejections);
  }
  const { billed, cost } = summary;
  expect(billed).toMatchObject({ messages: 3, amounts: { EUR: '0.1125' }, forecast: '0.040908' });
  const ofSms = [billed?.forecast, '0.1125 EUR', billed?.plannedParts, billed?.parts];
  expect(await rowsOf('Cost by receipts')).toEqual([
    ['2 sms', ...ofSms.map(String), `${billed?.messages} of ${steps[1]?.balance.accepted}`],
  ]);
  expect((await rowsOf('Cost by step')).at(-1)?.slice(0, 3)).toEqual(['2 sms', cost?.planned, cost?.accepted]);
  expect((await text('footer')).join()).toContain(summary.plan);
  await page.close();
});

test('it asks for nothing, and no script of its own could run', async () => {
  const page = await browser.newPage();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(url);
  expect(asked).toEqual([url]);
  const refused = page.waitForEvent('console', (message) => message.text().includes('Content Security Policy'));
  await page.evaluate(
    `document.body.append(Object.assign(document.createElement('script'), { textContent: 'document.title = "ran"' }))`,
  );
  await refused;
  expect(await page.title()).toBe('sale: 111 of 126 rows accepted');
  await page.close();
});

test('printed it is one sheet, without what engineers look up', async () => {
  const page = await browser.newPage();
  await page.goto(url);
  expect((await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
  await page.close();
});

test.each(oneIn(2, [LOOKS[0], LOOKS[4]]))('the proof of a run on $name, too', async (look) => {
  const page = await open(look, proofUrl);
  try {
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(look.width);
    await page.addScriptTag({ path: AXE });
    const { violations }: AxeResults = await page.evaluate('axe.run()');
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  } finally {
    await page.close();
  }
});

async function open({ width, colorScheme, media }: (typeof LOOKS)[number], of = url): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
  await page.goto(of);
  for (const fold of await page.locator('summary').all()) await fold.click();
  await page.emulateMedia({ colorScheme, media });
  return page;
}
