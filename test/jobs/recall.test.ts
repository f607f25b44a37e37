import { expect, test } from 'vitest';
import { runCommandInProcess } from '../e2e/command-in-process.js';
import { copyExamples } from './copied-examples.js';

const directory = copyExamples();

async function volleyAs(person: string, ...args: string[]) {
  const env = { PATH: process.env.PATH ?? '', VOLLEY_ACTOR: person };
  const { code, stdout } = await runCommandInProcess(args, { cwd: directory, env });
  return { code, json: JSON.parse(stdout) };
}

test('recall is planned by one person, approved by another and then sent, as jobs/README.md has it', async () => {
  expect((await volleyAs('ann', 'run', 'jobs/recall.yaml')).code).toBe(4);
  const { json: planned } = await volleyAs('ann', 'plan', 'jobs/recall.yaml');
  expect((await volleyAs('ann', 'approve', planned.directory, '--confirm', planned.planSha256)).code).toBe(4);
  expect((await volleyAs('bob', 'approve', planned.directory, '--confirm', planned.planSha256)).code).toBe(0);

  const sent = await volleyAs('ann', 'apply', planned.directory);

  expect(sent.code).toBe(0);
  expect(sent.json.balance).toMatchObject({ read: 9, accepted: 8, rejected: 1 });
});
