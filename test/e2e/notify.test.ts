import { expect, test } from 'vitest';
import { aJob, anSmsStep, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { anInbox } from './an-inbox.js';

const ALL = ['failure', 'in-doubt', 'success', 'missing-input'];

test('run and apply post how they ended: finished, idle, in doubt, refused by a guard, without their export; no cell of a file is in it', async () => {
  const workspace = await aWorkspace();
  const { url, bodies } = await anInbox();
  const posted = () => JSON.parse(bodies.at(-1) ?? '{}');
  const notify = { url, on: ALL };
  const step = (input = {}) => anSmsStep({ input: { files: 'inbox/*.csv', ...input } });
  workspace.writeJob(aJob(workspace, { notify, steps: [step()] }));
  workspace.write('inbox/1.csv', `${people(2)}Nobody,12\n`);

  const first = await workspace.run();
  expect(first.code).toBe(1);
  const { balance, plan } = first.summary;
  expect(posted()).toMatchObject({
    event: 'failure',
    job: 'sale',
    command: 'run',
    run: plan,
    state: 'finished',
    exitCode: 1,
    error: null,
    openDoubt: 0,
    balance,
    steps: [{ number: 1, kind: 'sms', messages: 2, balance: { accepted: 2, rejected: 1 } }],
  });

  expect((await workspace.run()).code).toBe(0);
  expect(posted()).toMatchObject({ event: 'success', state: 'nothing-new', run: null });

  workspace.write('inbox/2.csv', people(2, 10));
  workspace.setFaults({ kind: 'reset-after', area: 'sms', nth: 1 });
  const planned = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);
  expect((await workspace.volley('apply', planned.directory)).code).toBe(3);
  expect(posted()).toMatchObject({ event: 'in-doubt', command: 'apply', run: planned.plan, exitCode: 3, openDoubt: 2 });
  workspace.setFaults();

  workspace.write('inbox/3.csv', people(2, 20));
  workspace.writeJob(aJob(workspace, { notify, steps: [step()], guards: { maxMessages: 1 } }));
  expect((await workspace.run()).code).toBe(4);
  expect(posted()).toMatchObject({ event: 'failure', state: 'stopped', error: { code: 'guard' }, steps: [{}] });

  workspace.write('other/notes.txt', '');
  workspace.writeJob(aJob(workspace, { notify, steps: [step({ files: 'other/*.csv', required: true })] }));
  expect((await workspace.run()).code).toBe(2);
  expect(posted()).toMatchObject({ event: 'missing-input', state: 'refused', error: { code: 'missing-input' } });

  expect(bodies).toHaveLength(5);
  expect(bodies.join()).not.toMatch(/Nobody|P1\b|Hi |91000|"12"/);
});

test('a hook that is not taken changes neither the outcome nor the exit code', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(2));
  workspace.writeJob(aJob(workspace, { notify: { url: { env: 'NO_SUCH_HOOK' }, on: ['success'] } }));
  const { code, stderr, summary } = await workspace.run();
  expect([code, summary.balance.accepted]).toEqual([0, 2]);
  expect(stderr).toMatch(/"level":40.*"event":"notify".*NO_SUCH_HOOK is not set/);
});

test('an address that would show what is posted on its way is refused with the job, and not repeated', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(2));
  for (const url of ['http://hooks.example.com/CANARY', 'https://me:CANARY@hooks.example.com/', 'CANARY', ['CANARY']]) {
    workspace.writeJob(aJob(workspace, { notify: { url } }));
    const { code, stdout, stderr } = await workspace.run();
    expect(code).toBe(2);
    expect(`${stdout}${stderr}`).toMatch(/notify\.url/);
    expect(`${stdout}${stderr}`).not.toContain('CANARY');
  }
});
