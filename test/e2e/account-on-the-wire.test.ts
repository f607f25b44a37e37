import { describe, expect, test } from 'vitest';
import { aContactsStep, aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, OTHER_ACCOUNT, type Workspace } from './a-workspace.js';

const PEOPLE = 3;
const HQ = 'acme_hq';
type Service = Readonly<Record<string, unknown>>;

async function aRun(service: Service, steps = [anSmsStep()]): Promise<Workspace> {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(PEOPLE));
  workspace.writeJob(aJob(workspace, { service, steps }));
  expect((await workspace.run()).code).toBe(0);
  return workspace;
}

async function runAs(workspace: Workspace, service: Service, steps = [anSmsStep()]): Promise<number | null> {
  workspace.writeJob(aJob(workspace, { service, steps }));
  return (await workspace.run()).code;
}

const twice = [...numbersOf(PEOPLE), ...numbersOf(PEOPLE)].sort();

describe.concurrent('who has had a message is known by what is sent', () => {
  test('a corrected name of the account, which no address of a message holds, sends nothing again', async () => {
    const workspace = await aRun({ account: 'acme', subAccountId: HQ });
    expect(await runAs(workspace, { account: 'acmee', subAccountId: HQ })).toBe(0);
    expect(await workspace.destinations()).toEqual(numbersOf(PEOPLE));
  });

  test('so does a re-import of its rejections', async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', `${people(PEOPLE)}Nobody,n/a\n`);
    const steps = [anSmsStep({ input: { files: '*.csv' } })];
    workspace.writeJob(aJob(workspace, { service: { account: 'acme', subAccountId: HQ }, steps }));
    const { summary } = await workspace.run();
    const fixed = workspace.read(`${workspace.runOf(summary.plan)}/1-sms.rejections.csv`);
    workspace.write('fixed.csv', fixed.replace(',n/a,', `,${numbersOf(1, 9)[0]},`));
    await workspace.run();
    workspace.write('again.csv', fixed.replace(',n/a,', `,${numbersOf(1, 8)[0]},`));
    expect(await runAs(workspace, { account: 'acmee', subAccountId: HQ }, steps)).toBe(0);
    expect(await workspace.destinations()).toEqual([...numbersOf(PEOPLE), ...numbersOf(1, 9)]);
  });

  test('another subaccount is another sender: it sends', async () => {
    const workspace = await aRun({ account: 'acme', subAccountId: HQ });
    const [other = ''] = OTHER_ACCOUNT.subAccountIds;
    expect(await runAs(workspace, { account: 'acme', subAccountId: other })).toBe(0);
    expect(await workspace.destinations()).toEqual(twice);
  });

  test('another address is another service: it sends', async () => {
    const workspace = await aRun({});
    const { port } = new URL(workspace.sandbox.origin);
    const sms = `http://localhost:${port}`;
    expect(await runAs(workspace, { bases: { sms } })).toBe(0);
    expect(await workspace.destinations()).toEqual(twice);
  });

  test('contacts have the account in their address: another one has none of them yet', async () => {
    const steps = [aContactsStep()];
    const workspace = await aRun({ account: 'acme', subAccountId: HQ }, steps);
    const { account } = OTHER_ACCOUNT;
    expect(await runAs(workspace, { account, subAccountId: HQ }, steps)).toBe(0);
    expect((await workspace.contacts()).map((entry) => entry.account)).toEqual([
      ...Array(PEOPLE).fill('acme'),
      ...Array(PEOPLE).fill(account),
    ]);
  });

  test('of two steps, only the one whose address changed has its rows sent', async () => {
    const steps = [aContactsStep(), anSmsStep()];
    const workspace = await aRun({ account: 'acme', subAccountId: HQ }, steps);
    expect(await runAs(workspace, { account: OTHER_ACCOUNT.account, subAccountId: HQ }, steps)).toBe(0);
    expect(await workspace.contacts()).toHaveLength(2 * PEOPLE);
    expect(await workspace.destinations()).toEqual(numbersOf(PEOPLE));
  });
});
