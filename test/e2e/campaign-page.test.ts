import { readFileSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { OPT_OUT_HEADER } from '../../src/domain/opt-out-line.js';
import { aContactsStep, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { readOutput, rejectionsOf } from './account.js';
import { aStoppedRun } from './some-runs.js';

const cellsOf = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

async function reportCampaign(workspace: Workspace) {
  const printed = await workspace.told('report', 'job.yaml', '--campaign');
  return { printed, page: cellsOf(readFileSync(printed.page, 'utf8')) };
}

test('rejected, retried and corrected rows are one campaign: each row counts once, as the ledger has it', async () => {
  const { workspace } = await aStoppedRun();
  await workspace.run();
  const first = workspace.firstRun();
  await workspace.settle(first, 'not-sent', 10);
  const before = await reportCampaign(workspace);
  const balance = { read: 30, accepted: 20, unprocessed: 10 };
  expect(before.printed).toMatchObject({ balance, missing: [] });
  expect(before.printed.runs).toEqual([(await workspace.told('status', first)).plan]);

  const retried = await workspace.retry(first, 'not-sent');
  expect((await reportCampaign(workspace)).printed).toMatchObject({ balance });
  await workspace.volley('apply', retried.directory);

  const { printed, page } = await reportCampaign(workspace);
  expect(printed).toMatchObject({
    state: 'finished',
    runs: [before.printed.runs[0], retried.plan],
    balance: { read: 30, accepted: 30, rejected: 0, skipped: 0, inDoubt: 0, unprocessed: 0 },
  });
  expect(new Set(await workspace.destinations())).toEqual(new Set(numbersOf(30)));
  expect(page).toContain('the service accepted 30 messages');
  expect(page).toContain('2 runs; above each row counts once');
  expect(page).toMatch(/again: what was in doubt, and not sent .{20,60} 10 10 /);
  expect(page).not.toMatch(/91000\d{3}/);
});

test('corrected rejections that come back, and what a filter had left out, count where they were sent at last', async () => {
  const where = { name: { not: 'P20' } };
  const stepOf = (...files: string[]) => anSmsStep({ input: { files, where } });
  const workspace = await aJobFor(`${people(20)}Bad,+65 1\nWorse,n/a\nAgain,+6591000001\nTwin,12\nOther,13\n`, {
    steps: [stepOf('people.csv')],
  });
  const ran = await workspace.run();
  expect(ran.summary.balance).toMatchObject({ read: 25, accepted: 19, rejected: 4, skipped: 2 });
  const [bad, worse, twin, other] = readOutput(ran.summary, 1, 'rejections');
  const columns = Object.keys(bad ?? {});
  const line = (row: object) => `${columns.map((name) => `"${Object(row)[name]}"`).join(',')}\n`;
  const write = (name: string, ...rows: object[]) =>
    workspace.write(name, `${columns.join(',')}\n${rows.map(line).join('')}`);
  // Two are duplicates as they come back: one of them only at first.
  const twins = [twin, other].map((row) => ({ ...row, mobile: '+6591000001' }));
  write('fixed.csv', { ...bad, mobile: '+6591000077' }, worse ?? {}, ...twins);
  write('then.csv', { ...other, mobile: '+6591000078' });
  workspace.change({ steps: [stepOf('people.csv', 'fixed.csv', 'then.csv')] });
  expect((await workspace.run()).summary.balance).toMatchObject({ read: 5, accepted: 2, rejected: 1, skipped: 2 });
  workspace.change();
  const directory = ran.summary.directory;
  expect((await workspace.resend(directory, 'filtered', '--job', 'job.yaml')).code).toBe(0);
  // A run of other rows is another campaign.
  workspace.write('people.csv', people(3, 201));
  await workspace.run();

  const { code, stdout } = await workspace.volley('report', directory, '--campaign', '--no-json');
  expect(code).toBe(0);
  const page = cellsOf(readFileSync(`${directory}/campaign.html`, 'utf8'));
  expect(stdout).toContain('Campaign sale: 3 runs');

  const sent = (await workspace.destinations()).filter((number) => number < '+6591000200');
  expect(sent).toHaveLength(22);
  expect(page).toContain('read 25 after duplicates 24 1 after rejections 22 2 sent 22');
  expect(page).toContain('a placeholder (placeholder) 1');
  expect(page).toMatch(/5 corrected rows .{20,60} 5 2 /);
  expect(page).toMatch(/again: what a filter had left out .{20,60} 1 1 /);
});

test('a step that the job got between two runs of a campaign hides no row of the others', async () => {
  const workspace = await aJobFor(`${people(5)}+65 1,Bad\n`);
  const ran = await workspace.run();
  workspace.write('fixed.csv', rejectionsOf(ran.summary.directory).replace('Bad', numberOf(7)));
  workspace.change({ steps: [aContactsStep(), anSmsStep({ input: { files: ['people.csv', 'fixed.csv'] } })] });
  const { summary } = await workspace.run();
  expect(summary.steps).toMatchObject([{ balance: { accepted: 5, rejected: 1 } }, { balance: { accepted: 1 } }]);
  const { printed, page } = await reportCampaign(workspace);
  expect(printed.balance).toMatchObject({ read: 12, accepted: 11, rejected: 1 });
  expect(page).toContain('the service accepted 6 messages and 5 contacts');
});

test('a row that was rejected again as it came back counts there once its own run is gone', async () => {
  const steps = [anSmsStep({ input: { files: '*.csv' } })];
  const workspace = await aJobFor(`${people(1)}P2,n/a\nP3,n/a\n`, { steps });
  const { directory } = await workspace.told('run', 'job.yaml');
  workspace.write('fixed.csv', rejectionsOf(directory).replace('n/a', numberOf(2)));
  workspace.setFaults({ kind: 'reject-rows' });
  const second = await workspace.told('run', 'job.yaml');
  workspace.setFaults();
  await workspace.resend(second.directory, 'rejected');
  const count = async () => (await workspace.told('report', second.directory, '--campaign')).balance;

  expect(await count()).toMatchObject({ read: 3, accepted: 2, rejected: 1 });
  rmSync(directory, { recursive: true });
  expect(await count()).toMatchObject({ read: 2, accepted: 1, rejected: 1 });
});

test('who opted out since stands in the summary and on the page: once it was sent, by the latest line of the list', async () => {
  const workspace = await aJobFor(people(10), { optOuts: 'opt-outs.csv' });
  workspace.write('opt-outs.csv', `${OPT_OUT_HEADER}${numberOf(10)},out,2020-01-01T00:00:00.000Z,ann,STOP\n`);
  const { summary } = await workspace.run();
  expect(summary).toMatchObject({ balance: { accepted: 9 }, optedOutSince: 0 });
  const later = (person: number, what: string) => `${numberOf(person)},${what},2099-01-01T00:00:00.000Z,ann,\n`;
  workspace.append('opt-outs.csv', [later(1, 'out'), later(2, 'out'), later(2, 'in'), later(77, 'out')].join(''));

  const report = await workspace.told('report', 'job.yaml');
  expect(report.optedOutSince).toBe(1);
  expect(cellsOf(readFileSync(`${summary.directory}/report.html`, 'utf8'))).toContain('opted out since 1');
  expect((await reportCampaign(workspace)).page).toContain('opted out since 1');
  workspace.write('opt-outs.csv', 'no list');
  expect(await workspace.told('report', 'job.yaml')).not.toHaveProperty('optedOutSince');
});
