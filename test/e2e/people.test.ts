import { expect, test } from 'vitest';
import { OPT_OUT_HEADER } from '../../src/domain/opt-out-line.js';
import { aJob, anSmsStep, numberOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { readFailure } from './failure.js';

const INVITING = { template: { source: 'ACME', text: 'Hi {{ name }}. Reply STOP to opt out.' } };

async function aListedJob(changes: object = { optOuts: 'opt-outs.csv' }) {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(3));
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep(INVITING)], ...changes }));
  return workspace;
}

test('people opt-out and opt-in append who, when and what to the list of the job, with the number masked in what is said', async () => {
  const workspace = await aListedJob();
  const { code, stdout, stderr } = await workspace.volley(
    'people',
    'opt-out',
    'job.yaml',
    numberOf(1),
    '--by',
    'Ann, by phone',
  );
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ what: 'out', number: '+65******01' })]);
  expect(stdout + stderr).not.toContain(numberOf(1).slice(1));
  await workspace.volley('people', 'opt-out', 'job.yaml', numberOf(2));
  await workspace.volley('people', 'opt-in', 'job.yaml', numberOf(2));
  const lines = workspace.read('opt-outs.csv').slice(OPT_OUT_HEADER.length).split('\n');
  expect(lines[0]).toMatch(new RegExp(`^\\${numberOf(1)},out,\\d{4}-\\d\\d-\\d\\dT[^,]*Z,Ann by phone,$`));
  expect(lines.slice(1).map((line) => line.split(',').slice(0, 2))).toEqual([
    [numberOf(2), 'out'],
    [numberOf(2), 'in'],
    [''],
  ]);

  await workspace.run();

  expect(await workspace.destinations()).toEqual([numberOf(2), numberOf(3)]);
});

test.each([
  ['the job has no optOuts', {}, numberOf(1), 'no optOuts'],
  ['the list is one of others', { optOuts: 'people.csv' }, numberOf(1), 'not a list that Volley writes'],
  ['it is no number', { optOuts: 'opt-outs.csv' }, '12', 'Cannot use the number'],
])('people opt-out is refused where %s', async (_why, changes, number, said) => {
  const workspace = await aListedJob(changes);
  const { error, exitCode } = readFailure(await workspace.volley('people', 'opt-out', 'job.yaml', number));
  expect([exitCode, error.message]).toEqual([2, expect.stringContaining(said)]);
});

test.each([
  ['with no list', {}, true],
  ['with opt-outs of the job', { optOuts: 'opt-outs.csv' }, false],
  ['with a list of the step', { steps: [anSmsStep({ ...INVITING, suppress: { files: 'opt-outs.csv' } })] }, false],
  ['and another text', { steps: [anSmsStep({ template: { text: "Don't stop! Hi {{ name }}" } })] }, false],
])('a text that names STOP %s is warned of by plan and check: %o', async (_what, changes, isWarned) => {
  const workspace = await aListedJob(changes);
  workspace.write('opt-outs.csv', `${OPT_OUT_HEADER}${numberOf(1)},out,,,\n`);
  const said = 'its text names STOP, and no list has who answers so';
  expect((await workspace.volley('plan', 'job.yaml')).stderr.includes(said)).toBe(isWarned);
  expect((await workspace.volley('check', 'job.yaml')).stdout.includes(said)).toBe(isWarned);
});
