import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aJob, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';

/** What a person reads on stdout. */
const read = async (workspace: Workspace, ...args: string[]) => {
  const { stdout } = await workspace.volley(...args, '--no-json', '--log-level', 'silent');
  return stdout;
};

/** From `Next:` on; '' where nothing is left to do. */
const nextIn = (account: string) => /^Next: [\s\S]*$/m.exec(account)?.[0] ?? '';

const pageOf = (directory: string) => readFileSync(join(directory, 'report.html'), 'utf8');

test('after a 401 status says what the account says, and account and page name the rows that were not reached', async () => {
  const workspace = await aWorkspace({ kind: 'status-401', area: 'sms', nth: 1 });
  const others = people(2, 30).replace('name,mobile\n', '').replaceAll('+6591', '+4915112');
  workspace.write('people.csv', people(20) + others);
  workspace.writeJob(aJob(workspace));
  const { code, summary } = await workspace.run();
  expect([code, summary.balance]).toEqual([4, expect.objectContaining({ accepted: 0, unprocessed: 22 })]);

  const account = await read(workspace, 'report', 'job.yaml');

  expect(account).toContain('1 sms: 22 not sent → 1-sms.unprocessed.csv\n');
  expect(nextIn(account)).toMatch(/^Next: [\s\S]*key/);
  expect(nextIn(await read(workspace, 'status', 'job.yaml'))).toBe(nextIn(account));
  const page = pageOf(summary.directory);
  expect(page).toContain('the service accepted nothing.');
  const section = page.slice(page.indexOf('What was not accepted'));
  expect(section).toContain('not reached by the run');
});

test('a plan with nothing in it says to correct its rows, and names no ledger that is not there', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', 'name,mobile\nAnn,n/a\nBob,x1\n');
  workspace.writeJob(aJob(workspace, { service: { sandbox: true, bases: undefined, credentials: undefined } }));
  await workspace.volley('plan', 'job.yaml');
  const empty = 'there is nothing in it to send';
  expect(nextIn(await read(workspace, 'status', 'job.yaml'))).toContain(empty);

  const account = await read(workspace, 'report', 'job.yaml');

  expect(nextIn(account).replace(/\s+/g, ' ')).toMatch(
    /^Next: there is nothing in it to send: correct the rows in \S+1-sms.rejections.csv/,
  );
  expect(account).not.toMatch(/apply|ledger/);
  expect(nextIn(await read(workspace, 'status', 'job.yaml'))).toBe(nextIn(account));
});
