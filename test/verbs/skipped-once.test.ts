import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { aTerminal } from '../command/a-terminal.js';
import { planJob, runJob } from '../command/give-verb.js';

test('a file that was sent before is named once where stdout and stderr are one terminal, and in both where they are not', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'volley-skipped-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const job = join(directory, 'job.yaml');
  writeFileSync(join(directory, 'people.csv'), 'mobile\n+6591234567\n');
  const input = { files: 'people.csv' };
  const step = { kind: 'sms', input, destination: 'mobile', template: { source: 'ACME', text: 'Hi' } };
  writeFileSync(job, JSON.stringify({ name: 'sale', service: { sandbox: true }, steps: [step], output: 'out' }));
  const give = async (command: typeof runJob | typeof planJob, isStdoutTerminal: boolean) => {
    const { terminal, said } = aTerminal({ isStdoutTerminal, isStderrTerminal: true });
    await command({ job, json: false }, terminal);
    return [said.stdout, said.stderr].map((text) => text.includes('people.csv was already sent'));
  };
  await give(runJob, true);
  for (const command of [runJob, planJob]) {
    expect(await give(command, true)).toEqual([true, false]);
    expect(await give(command, false)).toEqual([true, true]);
  }
});
