import { expect, test } from 'vitest';
import { aJob, anSmsStep, people } from './a-job.js';
import { aWorkspace } from './a-workspace.js';

/** So large that a thread reads it. */
const NUMBERS = Array.from({ length: 400_000 }, (_, index) => `+65${91_000_000 + index}\n`).join('');

test.concurrent('a large suppression list without a header is refused, and the command ends', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(3));
  workspace.write('stop.csv', NUMBERS);
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ suppress: { files: 'stop.csv' } })] }));

  const { code, stderr } = await workspace.volley('plan', 'job.yaml');

  expect(code).toBe(2);
  expect(stderr).toContain('stop.csv:1: the first line is a number, expected a header');
});
