import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { aContactsStep, aJob, anSmsStep, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { readFailure } from './failure.js';

test('input that cannot be trusted refuses the plan: exit 2, every problem of every file at once, nothing sent, no plan left', async () => {
  const workspace = await aWorkspace();
  workspace.write('in/good.csv', people(5));
  workspace.write('in/open-quote.csv', 'name,mobile\nAnn,+6591000001\n"Bob,+6591000002\nCid,+6591000003\n');
  workspace.write('in/latin.csv', Buffer.from('name,mobile\nJos\xe9,+6591000004\n', 'latin1'));
  workspace.write('in/cut.csv.gz', gzipSync(people(500)).subarray(0, -40));
  workspace.write('in/twins.csv', 'name,mobile,mobile\nAnn,1,2\n');
  workspace.write('in/no-mobile.csv', 'name,phone\nAnn,+6591000005\n');
  workspace.write('in/empty.csv', '');
  workspace.write('gone.csv', 'mobile\n+6591000001\ncall the desk\n');
  const input = { files: 'in/*' };
  const text = 'Hi {{ name }}, {{ voucher }}';
  workspace.writeJob(
    aJob(workspace, {
      steps: [
        anSmsStep({ input, template: { text }, suppress: { files: 'gone.csv' } }),
        aContactsStep({ input: { files: ['in/good.csv'] }, fields: { msisdn: 'handy' } }),
      ],
    }),
  );

  const ended = await workspace.run();
  const { stderr } = ended;

  const { state, exitCode, error } = readFailure(ended);
  expect([state, exitCode, error.code]).toEqual(['refused', 2, 'bad-input']);
  expect(error.problems).toContainEqual(
    expect.objectContaining({ file: 'gone.csv', line: 3, message: expect.stringContaining('is not a number') }),
  );
  expect(ended.stdout).not.toContain('call the desk');
  expect(stderr).toMatch(/open-quote\.csv\S*: .*quote/);
  expect(stderr).toMatch(/latin\.csv\S*: .*(UTF-8|encoding)/);
  expect(stderr).toMatch(/cut\.csv\.gz\S*: .*(gzip|cut|end)/);
  expect(stderr).toMatch(/twins\.csv\S*: .*\\"mobile\\", and 2 columns have this name/);
  expect(stderr).toMatch(/no-mobile\.csv\S*: .*mobile/);
  expect(stderr).toMatch(/empty\.csv\S*: /);
  expect(stderr).toMatch(/job\.yaml:\d+:\d+: Cannot fill \{\{ voucher \}\}.*\(in in\/good\.csv:1\)/);
  expect(stderr).toMatch(/good\.csv\S*: .*handy/);
  expect(stderr).toMatch(/gone\.csv:3: .*is not a number/);
  expect(stderr).not.toContain('call the desk');
  expect(workspace.directories()).toEqual([]);
  expect(workspace.requests()).toEqual([]);
});

test('a pattern that matches no file in a directory that is there is nothing new: exit 0, and said', async () => {
  const workspace = await aWorkspace();
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: ['inbox-*.csv'] } })] }));

  const { code, stdout } = await workspace.run();

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    state: 'nothing-new',
    leftOut: [{ file: 'inbox-*.csv', reason: 'matches no file' }],
  });
  expect(workspace.requests()).toEqual([]);
});
