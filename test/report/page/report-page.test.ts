import { expect, test } from 'vitest';
import { formatReportPage } from '../../../src/report/page/report-page.js';
import type { Summary } from '../../../src/report/summary.js';
import { aCsvOf, aNumber, aPlan } from '../../plan/a-plan.js';
import { aRun, reportOf } from '../../run/a-run.js';

async function aFinishedRun() {
  const made = await aPlan({ files: { 'people.csv': aCsvOf(25) } });
  await aRun({ made });
  return { made, summary: await reportOf(made) };
}

const pageOf = ({ made, summary }: Awaited<ReturnType<typeof aFinishedRun>>, changes: Partial<Summary> = {}) =>
  formatReportPage({ summary: { ...summary, ...changes }, plan: made.plan, sentOf: () => undefined });

test('the page stands beside summary.json, with its figures, and needs nothing but itself', async () => {
  const { made } = await aFinishedRun();
  const page = made.disk.readText(`${made.directory}/report.html`);
  expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  expect(page).toContain('the service accepted 25 messages');
  expect(page).toContain('<b>25</b> accepted <span class="share">100 %</span>');
  expect(page).toContain('Every row is accounted for.');
  expect(page).not.toMatch(/<script|<link|<img|@import|url\(|src=|href=/i);
});

test('no number of a person is on it: not in a message, a file name, or the words of the service', async () => {
  const run = await aFinishedRun();
  const number = aNumber(7);
  const example = { to: number, text: `Call ${number}` };
  const made = {
    ...run.made,
    plan: {
      ...run.made.plan,
      steps: run.made.plan.steps.map((step) => ({
        ...step,
        examples: [example],
        inputs: step.inputs.map((input) => ({ ...input, file: `for ${number}.csv` })),
      })),
    },
  };
  const page = pageOf({ ...run, made });
  expect(page).toContain('Call +');
  expect(page).not.toContain(number);
  expect(page).not.toContain(number.slice(1));
});

test('what stands in names, messages and answers is text on the page, and no markup', async () => {
  const evil = `</title><script>alert("1")</script>'`;
  const run = await aFinishedRun();
  const plan = { ...run.made.plan, job: { ...run.made.plan.job, name: evil } };
  const steps = run.summary.steps.map((step) => ({ ...step, rejections: { [evil]: 3 } }));
  const page = pageOf({ ...run, made: { ...run.made, plan } }, { steps, deliveries: { [evil]: 1 } });
  expect(page).not.toMatch(/<script|"1"|1"\)/);
  expect(page.match(/&#60;script&#62;alert\(&#34;1&#34;\)/g)?.length).toBeGreaterThan(3);
});

test('the page says which tests of its plan were sent, and of many the last; the page of a test that it is one', async () => {
  const run = await aFinishedRun();
  const page = (count: number) => {
    const tests = Array.from({ length: count }, (_, at) => ({
      run: `test${at}`,
      sentAtMs: Date.UTC(2026, 10, 23, 9, at),
      numbers: 2,
      counts: at === 0 ? undefined : { read: 4, accepted: at === 1 ? 3 : 4 },
    }));
    return formatReportPage({ summary: run.summary, plan: run.made.plan, tests, sentOf: () => undefined });
  };
  const cellsOf = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
  expect(page(0)).not.toContain('Tests');
  expect(cellsOf(page(3))).toContain(
    '3 tests of this plan, 1 accepted in full. test sent own numbers messages accepted ' +
      'test0 23 November 2026 at 09:00 UTC 2 not finished test1 23 November 2026 at 09:01 UTC 2 4 3 test2 23 November 2026 at 09:02 UTC 2 4 4',
  );
  expect(cellsOf(page(30))).toMatch(/30 tests of this plan, 28 accepted in full\. The last 10: .* test20 /);

  const plan = { ...run.made.plan, testOf: { plan: 'k3v9q2m8x4aa', planSha256: '', numbers: 2 } };
  const ofTest = pageOf({ ...run, made: { ...run.made, plan } });
  expect(ofTest).toContain('This was a test, to 2 own numbers.');
  expect(ofTest).toContain(', a test of run k3v9q2m8x4aa;');
});

test('whatever a run holds, the page stays below 150 KB', async () => {
  const run = await aFinishedRun();
  const many = <T>(value: (at: number) => T) =>
    Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`${'x'.repeat(50)}${at}`, value(at)]));
  const [input] = run.made.plan.steps[0]?.inputs ?? [];
  const plan = {
    ...run.made.plan,
    steps: Array.from({ length: 30 }, () => run.made.plan.steps[0]!).map((step) => ({
      ...step,
      countries: many((at) => at),
      ucs2: many(() => 1),
      examples: [{ to: '', text: '€'.repeat(10_000) }],
      inputs: Array.from({ length: 3000 }, () => input!),
    })),
  };
  const [step] = run.summary.steps;
  const steps = plan.steps.map(() => ({ ...step!, rejections: many((at) => at), skips: many(() => 2) }));
  const summary = { ...run.summary, steps, deliveries: many(() => 1) };
  const page = formatReportPage({ summary, plan, sentOf: () => ({ rows: 1_000_000, ms: 40_000 }) });
  expect(Buffer.byteLength(page)).toBeLessThan(150_000);
});

test('what it cost by the price list stands by step, planned and accepted; without a list there is nothing of it', async () => {
  const run = await aFinishedRun();
  expect(pageOf(run)).not.toContain('Cost');
  const [step] = run.summary.steps;
  const cost = { currency: 'EUR', file: 'prices.csv', sha256: 'f00', planned: '1.25', accepted: '1.20' };
  const steps = [1, 2].map((number) => ({
    ...step!,
    number,
    cost: { planned: '0.625', accepted: '0.60', withoutPrice: number },
  }));
  const cells = [
    ...(/Cost by step[\s\S]*?<\/table>/.exec(pageOf(run, { cost, steps }))?.[0] ?? '').matchAll(
      /<td class="n">(0\.6[^<]*|1\.2[^<]*|[123])<\/td>/g,
    ),
  ];
  expect(cells.map(([, cell]) => cell)).toEqual(['0.625', '0.60', '1', '0.625', '0.60', '2', '1.25', '1.20', '3']);
});

test('what the service holds for a later time has its sentence', async () => {
  const run = await aFinishedRun();
  const [step] = run.summary.steps;
  const steps = [
    {
      ...step!,
      scheduled: { at: '2026-11-24T10:00:00+01:00', timeZone: 'Europe/Berlin' },
      balance: { ...step!.balance, accepted: 36 },
    },
    { ...step!, scheduled: { at: '2026-11-25T09:30:00Z' }, balance: { ...step!.balance, accepted: 1 } },
    { ...step!, scheduled: { at: '2026-11-26T09:30:00Z' }, balance: { ...step!.balance, accepted: 0 } },
  ];
  const page = pageOf(run, { steps });
  expect(page).toContain('36 messages are scheduled for 24 November 2026 at 10:00 Europe/Berlin (SG 17:00).');
  expect(page).toContain('1 message is scheduled for 25 November 2026 at 09:30 UTC (SG 17:30).');
  expect(page).not.toContain('26 November');
});

test('the sentences say how many were delivered and how many failed; a receipt that is not final is neither', async () => {
  const run = await aFinishedRun();
  const deliveries = { delivered: 12, read: 3, undelivered: 4, rejected: 1, queued: 2, sent: 2 };
  expect(pageOf(run, { deliveries })).toContain('Receipts say: 15 delivered, 5 failed; 5 have no final one yet.');
  expect(pageOf(run, { deliveries: { delivered: 25 } })).toContain('Receipts say: 25 delivered, 0 failed.');
  expect(pageOf(run, { deliveries: { delivered: 24 } })).toContain('; 1 has no final one yet.');
  expect(pageOf(run)).not.toContain('Receipts say');
});

test('the sentences give the time that recipients saw, of the countries that most messages go to', async () => {
  const run = await aFinishedRun();
  const startedAt = '2026-11-24T08:18:00.000Z';
  const sentTo = (countries: Readonly<Record<string, number>>) => {
    const steps = run.made.plan.steps.map((step) => ({ ...step, countries }));
    return pageOf({ ...run, made: { ...run.made, plan: { ...run.made.plan, steps } } }, { startedAt });
  };
  expect(sentTo({ DE: 5, SG: 20 })).toMatch(/24 November 2026, 16:18 to [^<]* Asia\/Singapore the service/);
  expect(sentTo({ DE: 5, SG: 20 })).toContain('When sending began, it was DE 09:18.');
  expect(sentTo({ DE: 9, SG: 8, GB: 7, FR: 6, ES: 5, IT: 4, US: 3 })).toContain(
    'it was SG 16:18, GB 08:18, ES 08:18 to 09:18, and 2 more countries.',
  );
  expect(sentTo({ GB: 25 })).not.toContain('When sending began');
  // A country of several times has no clock of its own.
  expect(sentTo({ US: 25 })).toMatch(/24 November 2026, 08:18 to [^<]* UTC the service/);
});

test('the page begins with the way from the rows read to the people reached, and what it cost', async () => {
  const run = await aFinishedRun();
  const [step] = run.summary.steps;
  const balance = { ...step!.balance, read: 40, accepted: 25, rejected: 6, skipped: 5, inDoubt: 3, unprocessed: 1 };
  const funnel = [
    { filter: 'country', code: 'filtered', omitted: 5, left: 35, values: [{ value: 'DE', rows: 5 }] },
    { code: 'duplicate', omitted: 0, left: 35 },
    { code: 'rejected', omitted: 4, left: 31 },
  ];
  const billed = { messages: 20, priced: 18, amounts: { EUR: '0.9' }, forecast: null, parts: 20, plannedParts: 20 };
  const summary = {
    ...run.summary,
    balance,
    steps: [{ ...step!, balance, funnel }],
    deliveries: { delivered: 20, undelivered: 2, sent: 3 },
    billed,
    optedOutSince: 2,
  };
  const page = formatReportPage({ summary, plan: run.made.plan, sentOf: () => undefined });
  const [table = ''] = /From the file to the people[\s\S]*?<\/table>/.exec(page) ?? [];
  const lines = table.split('</tr>').map((row) =>
    row
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
  expect(lines.slice(1, -1)).toEqual([
    'read 40',
    'after country 35 5: DE 5',
    'after rejections 31 4',
    'sent 25 2 rows refused by the service, 3 rows in doubt, 1 row not sent',
    'delivered 20 2 failed, 3 without a final receipt',
    'opted out since 2',
  ]);
  const none = { ...summary, optedOutSince: 0, balance: { ...balance, accepted: 1 } };
  const other = formatReportPage({ summary: none, plan: run.made.plan, sentOf: () => undefined });
  expect(other).not.toContain('opted out since');
  expect(other).toContain('Of 40 rows read, 1 was accepted');
  const at = (part: string) => page.indexOf(part);
  expect(at('class="lead"')).toBeLessThan(at('From the file to the people'));
  expect(at('From the file to the people')).toBeLessThan(at('<b>Cost:</b> 0.9 EUR billed, by 18 receipts'));
  expect(at('Cost:')).toBeLessThan(at('<details>'));
});

test('rate and digests are folded, and stand nowhere else', async () => {
  const run = await aFinishedRun();
  const cost = { currency: 'EUR', file: 'prices.csv', sha256: 'f00', planned: '1.25', accepted: '1.20' };
  const summary = { ...run.summary, cost };
  const page = formatReportPage({ summary, plan: run.made.plan, sentOf: () => ({ rows: 25, ms: 5000 }) });
  const [folded = ''] = /<details>[\s\S]*<\/details>/.exec(page) ?? [];
  const open = page.replace(folded, '');
  for (const part of ['1 sms: 25 messages in 5 s; 5 a second', run.made.plan.steps[0]!.inputs[0]!.sha256, 'f00']) {
    expect(folded).toContain(part);
    expect(open).not.toContain(part);
  }
  expect(open).toContain('<b>Cost:</b> 1.25 EUR planned, 1.20 EUR for what was accepted.');
});

test('each way to end has its sentence', async () => {
  const run = await aFinishedRun();
  const balance = { ...run.summary.balance, accepted: 20, inDoubt: 3, unprocessed: 2 };
  expect(pageOf(run, { balance })).toContain('3 rows in doubt: each may or may not have been sent');
  expect(pageOf(run, { balance })).not.toContain('Every row is accounted for');
  expect(pageOf(run, { state: 'planned', startedAt: null })).toContain(
    'Nothing was sent yet: the plan holds 25 messages.',
  );
  const stop = { reason: 'guard', detail: 'too many were refused' } as const;
  expect(pageOf(run, { state: 'stopped', stop })).toContain('The run stopped before its end: too many were refused.');
  const steps = run.summary.steps.map((step) => ({ ...step, notSent: { cancelled: 2 } }));
  expect(pageOf(run, { balance, steps })).toContain('2 rows taken back.');
  expect(pageOf(run, { balance: { ...balance, unprocessed: 5 }, steps })).toContain(
    '2 rows taken back, 3 rows not sent.',
  );
  expect(pageOf(run, { state: 'unfinished' })).toContain('The run has not ended');
});
