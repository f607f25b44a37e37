import { describe, expect, test } from 'vitest';
import { aContactsStep, anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, OTHER_ACCOUNT } from './a-workspace.js';

test.concurrent('a file is sent once per job also under another text; --again and `repeat: always` send it once more, with other ids', async () => {
  const workspace = await aJobFor(people(3));
  await workspace.run();
  workspace.change({ steps: [anSmsStep({ template: { text: 'Dear {{ name }}' } })] });
  expect(await workspace.told('run', 'job.yaml')).toMatchObject({ state: 'nothing-new' });
  expect((await workspace.run('--again')).code).toBe(0);
  workspace.change({ repeat: 'always' });
  expect((await workspace.run()).code).toBe(0);
  const sent = await workspace.sms();
  expect(sent.map((entry) => entry.destination)).toEqual([...numbersOf(3), ...numbersOf(3), ...numbersOf(3)]);
  expect(new Set(sent.map((entry) => entry.clientMessageId)).size).toBe(9);
  expect(new Set(sent.map((entry) => entry.clientBatchId)).size).toBe(3);
});

const PEOPLE = 3;
const HQ = 'acme_hq';
type Service = Readonly<Record<string, unknown>>;

/** A job that has run, and what its next run under another service ends with. */
async function aRun(service: Service, steps = [anSmsStep()]) {
  const workspace = await aJobFor(people(PEOPLE), { service, steps });
  expect((await workspace.run()).code).toBe(0);
  return {
    workspace,
    runAs: async (other: Service) => {
      workspace.change({ service: other, steps });
      expect((await workspace.run()).code).toBe(0);
      return workspace.destinations();
    },
  };
}

describe.concurrent('who has had a message is known by what is sent', () => {
  test('a corrected name of the account, which no address of a message holds, sends nothing again', async () => {
    const { runAs } = await aRun({ account: 'acme', subAccountId: HQ });
    expect(await runAs({ account: 'acmee', subAccountId: HQ })).toEqual(numbersOf(PEOPLE));
  });

  test('of two steps, only the one whose address changed has its rows sent', async () => {
    const { workspace, runAs } = await aRun({ account: 'acme', subAccountId: HQ }, [aContactsStep(), anSmsStep()]);
    expect(await runAs({ account: OTHER_ACCOUNT.account, subAccountId: HQ })).toEqual(numbersOf(PEOPLE));
    expect(await workspace.client.entries('contacts')).toHaveLength(2 * PEOPLE);
  });

  test.each<[string, Service, Service]>([
    ['subaccount is another sender', { subAccountId: HQ }, { subAccountId: OTHER_ACCOUNT.subAccountIds[0] }],
    ['address is another service', {}, { bases: { sms: 'http://localhost:PORT' } }],
  ])('another %s: it sends', async (_what, first, second) => {
    const { workspace, runAs } = await aRun(first);
    const { port } = new URL(workspace.sandbox.origin);
    const sent = await runAs(JSON.parse(JSON.stringify(second).replace('PORT', port)));
    expect(sent).toEqual([...numbersOf(PEOPLE), ...numbersOf(PEOPLE)].sort());
  });
});

test('started twice at once, one runs; the other finds the lock held, or nothing new', async () => {
  const workspace = await aJobFor(people(100), {}, { kind: 'latency', delayMs: 50 });

  const ended = await Promise.all([1, 2].map(() => workspace.finish(workspace.start(['run', 'job.yaml']))));

  const states = ended.map(({ code, stdout }) => {
    const { state, error } = JSON.parse(stdout);
    return code === 75 && error.code === 'lock-held' ? 'turned away' : `${state} ${code}`;
  });
  expect(states.filter((state) => state === 'finished 0')).toHaveLength(1);
  expect(states.filter((state) => !['finished 0', 'turned away', 'nothing-new 0'].includes(state))).toEqual([]);
  expect(await workspace.destinations()).toEqual(numbersOf(100));
  expect(workspace.requests()).toHaveLength(10);
});
