import { readFileSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { aContactsStep, anSmsStep, numbersOf, people } from '../e2e/a-job.js';
import { aJobFor } from '../e2e/a-workspace.js';

const IN = { input: { files: '*.csv' } };

it.each([
  { what: 'there', isGone: false, end: { skipped: 1 } },
  { what: 'gone', isGone: true, end: { rejected: 1 } },
])('a row that contacts refused is not sent where another run has its file for SMS, which is $what', async (told) => {
  const workspace = await aJobFor(people(2), { steps: [aContactsStep(IN)] });
  workspace.setFaults({ kind: 'reject-rows', endingWith: '002' });
  const imported = await workspace.told('run', 'job.yaml');
  workspace.setFaults();
  workspace.change({ steps: [anSmsStep(IN)] });
  const sent = await workspace.told('run', 'job.yaml');
  expect(sent.balance).toMatchObject({ accepted: 2 });
  if (told.isGone) rmSync(sent.directory, { recursive: true });

  const rejections = readFileSync(`${imported.directory}/1-contacts.rejections.csv`, 'utf8');
  workspace.write('fixed.csv', rejections.replace('P2', 'Pia'));

  expect((await workspace.told('run', 'job.yaml')).balance).toMatchObject({ accepted: 0, ...told.end });
  expect(await workspace.destinations()).toEqual(numbersOf(2));
});

it('a row that contacts refused, and that was sent as SMS from its rejections, is not sent from its file', async () => {
  const workspace = await aJobFor(people(2), { steps: [aContactsStep(IN)] });
  workspace.setFaults({ kind: 'reject-rows', endingWith: '002' });
  const imported = await workspace.told('run', 'job.yaml');
  workspace.setFaults();
  const rejections = readFileSync(`${imported.directory}/1-contacts.rejections.csv`, 'utf8');
  workspace.write('fixed.csv', rejections.replace('P2', 'Pia'));
  workspace.change({ steps: [anSmsStep({ input: { files: 'fixed.csv' } })] });
  await workspace.told('run', 'job.yaml');
  workspace.change({ steps: [anSmsStep(IN)] });

  const { error } = await workspace.told('run', 'job.yaml');
  workspace.write('people.csv', people(1));

  expect(error).toMatchObject({ code: 'plan-mismatch', problems: [{ file: 'people.csv', line: 3 }] });
  await workspace.told('run', 'job.yaml');
  expect(await workspace.destinations()).toEqual(numbersOf(2));
});
