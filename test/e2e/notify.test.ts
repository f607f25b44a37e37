import { expect, test } from 'vitest';
import { aRecorder } from '../service/a-recorder.js';
import { anSmsStep, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';

const ALL = ['failure', 'in-doubt', 'success', 'missing-input'];

test('run and apply post how they ended: finished, idle, in doubt, refused by a guard, without their export; no cell of a file is in it', async () => {
  const workspace = await aWorkspace();
  const { base: url, bodies } = await aRecorder();
  const posted = () => JSON.parse(bodies.at(-1) ?? '{}');
  const notify = { url, on: ALL };
  const step = (input = {}) => anSmsStep({ input: { files: 'inbox/*.csv', ...input } });
  workspace.change({ notify, steps: [step()] });
  workspace.write('inbox/1.csv', `${people(2)}Nobody,12\n`);

  const first = await workspace.run();
  expect(first.code).toBe(1);
  const { balance, plan } = first.summary;
  const ended = { command: 'run', run: plan, state: 'finished', exitCode: 1, error: null, openDoubt: 0, balance };
  const [sms] = [{ number: 1, kind: 'sms', messages: 2, balance: { accepted: 2, rejected: 1 } }];
  expect(posted()).toMatchObject({ event: 'failure', job: 'sale', ...ended, steps: [sms] });

  expect((await workspace.run()).code).toBe(0);
  expect(posted()).toMatchObject({ event: 'success', state: 'nothing-new', run: null });

  workspace.write('inbox/2.csv', people(2, 10));
  workspace.setFaults({ kind: 'reset-after', area: 'sms', nth: 1 });
  const planned = await workspace.told('plan', 'job.yaml');
  expect((await workspace.volley('apply', planned.directory)).code).toBe(3);
  expect(posted()).toMatchObject({ event: 'in-doubt', command: 'apply', run: planned.plan, exitCode: 3, openDoubt: 2 });

  workspace.write('inbox/3.csv', people(2, 20));
  workspace.change({ notify, steps: [step()], guards: { maxMessages: 1 } });
  expect((await workspace.run()).code).toBe(4);
  expect(posted()).toMatchObject({ event: 'failure', state: 'stopped', error: { code: 'guard' }, steps: [{}] });

  workspace.write('other/notes.txt', '');
  workspace.change({ notify, steps: [step({ files: 'other/*.csv', required: true })] });
  expect((await workspace.run()).code).toBe(2);
  expect(posted()).toMatchObject({ event: 'missing-input', state: 'refused', error: { code: 'missing-input' } });

  expect(bodies).toHaveLength(5);
  expect(bodies.join()).not.toMatch(/Nobody|P1\b|Hi |91000|"12"/);
});

test('a signal while it waits for notBefore is posted, as while it waits for its window; a run before its time is not', async () => {
  const workspace = await aWorkspace();
  const { base: url, bodies } = await aRecorder();
  workspace.write('people.csv', people(2));
  workspace.change({ notify: { url }, notBefore: new Date(Date.now() + 3_600_000).toISOString() });
  expect((await workspace.run()).code).toBe(75);
  expect(bodies).toEqual([]);

  const waiting = workspace.start(['run', 'job.yaml', '--wait']);
  await waiting.says('waiting until');
  waiting.signal('SIGTERM');
  expect((await waiting.ended).code).toBe(75);

  const error = { code: 'interrupted', message: expect.stringContaining('SIGTERM came while it waited until') };
  expect(bodies.map((body) => JSON.parse(body))).toMatchObject([{ event: 'failure', exitCode: 75, error }]);
});

test('the reason that is posted is that of the log: the first problem of the plan, without the columns of a file', async () => {
  const workspace = await aWorkspace();
  const { base: url, bodies } = await aRecorder();
  const reasonOf = async (input: object, more: object = {}) => {
    workspace.change({ notify: { url }, steps: [anSmsStep({ input, ...more })] });
    const { code, stderr } = await workspace.volley('run', 'job.yaml');
    expect(code).toBe(2);
    const logged = stderr.split('\n').find((line) => line.includes('"event":"end"')) ?? '{}';
    return [JSON.parse(bodies.at(-1) ?? '{}').reason, JSON.parse(logged).reason];
  };
  workspace.write('people.csv', people(2));
  workspace.write('headless.csv', 'Nobody,+6591000099\nNoone,+6591000098\n');

  const [posted, logged] = await reasonOf({ files: 'people.csv' }, { suppress: { files: 'opt-outs.csv' } });
  expect(posted).toMatch(/^Cannot plan the job: there is 1 problem: opt-outs.csv: there is no such file/);
  expect(posted).toBe(logged);

  const [short, long] = await reasonOf({ files: 'headless.csv' });
  expect(short).toMatch(/no column matches '\w+'$/);
  expect(long).toContain(`${short}; columns: Nobody, `);
});
