import { cpSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { expandPage } from '../../src/sandbox/ledger.js';
import type { SmsEntry } from '../../src/sandbox/sms/batch-schema.js';
import { readPage } from '../pages/page.js';
import { CODES, parseExpectedRows, readAccount } from '../samples/expected.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { expectEveryRowOnce, expectLedgerAgrees, type Row, readOutput } from './account.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

test('the sample job sends what the samples say, the ledger agrees row by row, README shows its account, and a new file beside them is all that is sent next', {
  timeout: 90_000,
}, async () => {
  const workspace = await aWorkspace();
  for (const folder of ['jobs', 'samples']) cpSync(`${ROOT}${folder}`, workspace.path(folder), { recursive: true });

  const { code, summary } = await workspace.volley('run', 'jobs/spring-sale.yaml');

  expect(code).toBe(0);
  expectEveryRowOnce(summary);
  for (const wanted of readAccount().steps) {
    const { balance, skips } = summary.steps[wanted.step - 1]!;
    expect(balance).toMatchObject({ read: wanted.read, accepted: wanted.accepted, rejected: wanted.rejected });
    const expected = { duplicate: wanted.duplicate, suppressed: wanted.suppressed };
    expect({ duplicate: 0, suppressed: 0, ...skips }).toEqual(expected);
  }
  const place = (row: Row) => `${row._step} ${row._file} ${row._row}`;
  const rejected = new Map(
    [1, 2, 3, 4].flatMap((step) =>
      readOutput(summary, step, 'rejections').map((row) => [place(row), row._code] as const),
    ),
  );
  const faulty = parseExpectedRows().filter((row) => row.disposition === 'rejected');
  const unlike = faulty.filter(
    (row) => !CODES[row.fault]?.includes(rejected.get(`${row.step} ../samples/${row.file} ${row.row}`) ?? ''),
  );
  expect(unlike).toEqual([]);
  expect(rejected.size).toBe(faulty.length);
  const ledger = readLedger(workspace.path('out/spring-sale/sandbox/ledger.ndjson'));
  expectLedgerAgrees(summary, ledger, textOf);

  const account = await workspace.volley('report', summary.directory, '--no-json');
  const printed = account.stdout.replace(/\d{4}-\d\d-\d\dT\d{4}-/, '2026-11-22T0930-').split('\n');
  const shown =
    readPage('README.md')
      .blocks.find(({ text }) => text.startsWith('Run '))
      ?.text.split('\n') ?? [];
  expect(shown.length).toBeGreaterThan(15);
  expect(shown.filter((line) => line !== '…' && !printed.includes(line))).toEqual([]);

  const late =
    'mobile,country,first_name,voucher,offer\n+6591000001,SG,Ann,LATE1,5% off\n+6591000002,SG,,LATE2,6% off\n';
  workspace.write('samples/recipients/08-late.csv', late);
  const next = await workspace.volley('run', 'jobs/spring-sale.yaml');

  expect(next).toMatchObject({ code: 0, summary: { balance: { read: 2, accepted: 2 } } });
  expect(next.summary.steps.flatMap(({ inputs }) => inputs.map(({ file }) => file))).toEqual([
    '../samples/recipients/08-late.csv',
  ]);
  const sent = readLedger(workspace.path('out/spring-sale/sandbox/ledger.ndjson')).slice(ledger.length);
  expectLedgerAgrees(next.summary, sent, textOf);
});

/** The embedded sandbox's own file: behind its first line, a page for each request. */
function readLedger(path: string): SmsEntry[] {
  const [, ...pages] = readFileSync(path, 'utf8').trimEnd().split('\n');
  return pages.flatMap((page) => [...expandPage(JSON.parse(page))]).filter((entry) => entry.area === 'sms');
}

/** The two texts of the job, written by hand. */
function textOf(row: Row, step: number): string {
  return step === 4
    ? `Hallo ${row.Vorname || 'und guten Tag'}, ${row.Angebot} bei ACME bis Sonntag mit ${row.Gutschein}. STOP beendet.`
    : `Hi ${row.first_name || 'there'}, ${row.offer} at ACME until Sunday with ${row.voucher}. Reply STOP to opt out.`;
}
