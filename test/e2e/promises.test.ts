import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { aContactsStep, aJob, anSmsStep, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { expectEveryRowOnce, expectLedgerAgrees, readOutput } from './account.js';

describe.concurrent('a run that finishes', () => {
  test('has every row in exactly one output, and its results join the ledger by clientMessageId', async () => {
    const workspace = await aWorkspace({ kind: 'reject-rows', area: 'sms', endingWith: '3' });
    workspace.write('people.csv', `${people(40)}Twin,+65 9100 0001\nNobody,\n"Short"\n,+6591000099\n`);
    workspace.write('gone.csv', 'mobile\n+6591000002\n');
    workspace.writeJob(
      aJob(workspace, { steps: [aContactsStep(), anSmsStep({ batchSize: 7, suppress: { files: 'gone.csv' } })] }),
    );

    const { code, summary, stdout } = await workspace.run();

    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expectEveryRowOnce(summary);
    expectLedgerAgrees(summary, await workspace.sms(), (row) => `Hi ${row.name}`);
    expect(summary).toMatchObject({ state: 'finished', exitCode: 1, stop: null });
    expect(code).toBe(1);
    expect(summary.steps[1]).toMatchObject({
      balance: { read: 44, accepted: 35, rejected: 7, skipped: 2, inDoubt: 0, unprocessed: 0 },
      rejections: { REJECTED: 4, empty: 1, 'too-few-fields': 1, 'missing-value': 1 },
      skips: { duplicate: 1, suppressed: 1 },
    });
  });

  test('leaves the key in none of its files, and none of them to others', async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(3));
    workspace.writeJob(aJob(workspace));

    const { summary, stdout, stderr } = await workspace.run();

    const { apiKey } = workspace.sandbox.credentials;
    const files = readdirSync(summary.directory);
    expect(files).toContain('journal.ndjson');
    for (const file of files) {
      expect(workspace.read(`${workspace.runOf(summary.plan)}/${file}`)).not.toContain(apiKey);
      expect(statSync(join(summary.directory, file)).mode & 0o777).toBe(0o600);
    }
    expect(statSync(summary.directory).mode & 0o777).toBe(0o700);
    expect(stdout + stderr).not.toContain(apiKey);
  });

  test('gives each contact its id, and a contact that was there already is merged into', async () => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', `${people(3)}Ann again,+6591000001\n`);
    workspace.writeJob(aJob(workspace, { steps: [aContactsStep()] }));

    const { code, summary } = await workspace.run();

    expectEveryRowOnce(summary);
    expect(code).toBe(0);
    const ledger = await workspace.contacts();
    const results = readOutput(summary, 1, 'results').map((row) => [row._status, row._contactId]);
    expect(results).toEqual(ledger.map((entry) => [entry.outcome.toUpperCase(), String(entry.contactId)]));
    expect(results[3]).toEqual(['MERGED', results[0]?.[1]]);
  });
});
