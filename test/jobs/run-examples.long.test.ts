import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Balance } from '../../src/domain/row.js';
import { loadJob } from '../../src/job/load.js';
import type { Summary } from '../../src/report/summary.js';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import { expectEveryRowOnce, readOutput } from '../e2e/account.js';
import { Running } from '../e2e/command.js';
import { runCommandInProcess } from '../e2e/command-in-process.js';
import { oneIn } from '../one-in.js';
import { readAccount } from '../samples/expected.js';
import { copyExamples, readLedgerOf } from './copied-examples.js';
import { ROOT } from './dockerfile.js';
import { aNetworkRecord } from './network-record.js';

interface Wanted {
  /** That of the job file; by default the file's. */
  readonly name?: string;
  /** Done before it, in its directory. */
  readonly before?: (directory: string) => Promise<unknown>;
  /** Of each step with rows, by its number. */
  readonly balances: Readonly<Record<number, Partial<Balance>>>;
  /** What the sandbox holds afterwards, of this job alone. */
  readonly expectLedger: (ledger: readonly LedgerEntry[], summary: Summary) => void;
}

const shop = readAccount().steps[0]!;

/** What the README of the samples says of each. */
const EXAMPLES: Readonly<Record<string, Wanted>> = {
  'campaign-window': {
    balances: { 2: { read: 26, accepted: 22, rejected: 3, skipped: 1 } },
    expectLedger: (ledger, { directory, steps }) => {
      expect(ledger.map(({ area }) => area)).toEqual(['campaign', ...Array(22).fill('sms'), 'campaign', 'chat']);
      const changes = ledger.flatMap((entry) => (entry.area === 'campaign' ? [entry.requested] : []));
      expect(changes).toEqual(['PAUSED', 'RUNNING']);
      expect(steps.map(({ action }) => action?.code ?? null)).toEqual(['PAUSED', null, 'RUNNING', 'POSTED']);
      const post = ledger.at(-1);
      expect(post?.area === 'chat' && post.messageRaw.replace(/after \d+ s/, 'after … s')).toBe(
        `campaign-window finished after … s: 22 of 26 sent, 3 refused, 0 in doubt. ${directory}`,
      );
    },
  },
  'contacts-migration': {
    balances: { 1: { read: shop.read, accepted: shop.accepted, rejected: shop.rejected } },
    expectLedger: (ledger, { balance }) => expectOnly(ledger, 'contacts', balance.accepted),
  },
  handoff: {
    balances: { 1: { read: 17, accepted: 7, rejected: 10 } },
    expectLedger: (ledger) => {
      const handed = ledger.flatMap((entry) =>
        entry.area === 'gateway' && entry.kind === 'conversation' ? [entry.body] : [],
      );
      expect(handed.map(({ assignment }) => (assignment as { id: string }).id).sort()).toEqual(
        ['100', '102', '101', '101', '101', '100', '101'].sort(),
      );
      expect(handed.flatMap(({ user }) => (user as { language?: string }).language ?? []).sort()).toEqual(
        ['en', 'en', 'id', 'zh-CN'].sort(),
      );
      expect(handed.map(({ user }) => (user as { phone?: string }).phone)).toContain('+6591234714');
      expectOnly(ledger, 'gateway', 9);
      expect(ledger.map((entry) => entry.area === 'gateway' && entry.kind).slice(0, 2)).toEqual(['webhook', 'channel']);
    },
  },
  'last-call': {
    balances: { 1: { read: 9, accepted: 6, rejected: 1, skipped: 2 } },
    expectLedger: (ledger) => expectOnly(ledger, 'sms', 6),
  },
  'number-check': {
    balances: { 1: { read: 12, accepted: 5, rejected: 6, skipped: 1 } },
    expectLedger: (ledger) => {
      expectOnly(ledger, 'verification', 5);
      const texts = ledger.map((entry) => (entry.area === 'verification' ? entry.text : ''));
      for (const text of texts) expect(text).toMatch(/^ACME: \d{6} confirms your number\./);
    },
  },
  'number-check-codes': {
    name: 'number-check',
    before: sendCodes,
    balances: { 1: { read: 4, accepted: 3, rejected: 1 } },
    expectLedger: (ledger, summary) => {
      const expected = [...Array(3).fill(['code-checked', 'VERIFIED']), ['code-checked', 'WAITING']];
      expect(ledger.map((entry) => entry.area === 'verification' && [entry.event, entry.status])).toEqual(expected);
      expect(readOutput(summary, 1, 'results').map((row) => [row.customer_id, row._status, row._destination])).toEqual([
        ['N-01', 'VERIFIED', '+6591234501'],
        ['N-02', 'VERIFIED', '+6591234502'],
        ['N-04', 'VERIFIED', '+60123456704'],
      ]);
    },
  },
  'number-check-offer': {
    name: 'number-check',
    before: async (directory) => {
      await sendCodes(directory);
      expect((await runHere(directory, 'number-check-codes')).code).toBe(0);
    },
    balances: { 1: { read: 3, accepted: 3 } },
    expectLedger: (ledger) =>
      expect(ledger.map((entry) => entry.area === 'sms' && [entry.destination, entry.text])).toEqual([
        ['+6591234501', 'Your number is confirmed, N-01. Show this message for 10% off.'],
        ['+6591234502', 'Your number is confirmed, N-02. Show this message for 10% off.'],
        ['+60123456704', 'Your number is confirmed, N-04. Show this message for 10% off.'],
      ]),
  },
  opening: {
    balances: { 1: { read: 9, accepted: 8, rejected: 1 } },
    expectLedger: (ledger, { cost }) => {
      expectOnly(ledger, 'sms', 8);
      expect(cost).toMatchObject({ currency: 'EUR', planned: '0.2775', accepted: '0.2775' });
    },
  },
  'win-back': {
    balances: { 1: { read: 12, accepted: 3, rejected: 1, skipped: 8 } },
    expectLedger: (ledger, summary) => {
      expect(ledger.map((entry) => entry.area === 'sms' && entry.destination)).toEqual([
        '+6591234700',
        '+60123456702',
        '+6591234710',
      ]);
      const skipped = readOutput(summary, 1, 'skipped').map((row) => `${row.customer_id} ${row._reason}`);
      expect(skipped).toEqual([
        'W-02 filter: consent: yes',
        'W-04 filter: spend: { atLeast: 100 }',
        'W-05 filter: last_order: { before: 2026-06-01 }',
        'W-07 filter: market: [SG, MY]',
        'W-08 filter: consent: yes',
        'W-09 filter: email: present',
        'W-10 filter: tag: { not: staff }',
        'W-12 filter: consent: yes',
      ]);
    },
  },
};

test('every example that says `sandbox: true` is run here', async () => {
  const names = readdirSync(`${ROOT}jobs`).filter((name) => name.endsWith('.yaml'));
  const jobs = await Promise.all(names.map((name) => loadJob(`${ROOT}jobs/${name}`)));

  const onSandbox = names.filter((_, at) => jobs[at]?.service.sandbox).map((name) => name.replace('.yaml', ''));
  // In a test of their own: autumn-sale.test.ts, e2e/sample-job.long.test.ts.
  const others = onSandbox.filter((name) => !['autumn-sale', 'recall', 'spring-sale'].includes(name));
  expect(others.toSorted()).toEqual(Object.keys(EXAMPLES));
});

/** Those that run as a process whose network is watched: others with each commit. */
const WATCHED = oneIn(6, Object.keys(EXAMPLES));

// Each waits for its rates, its windows and its answers.
test.concurrent.each(Object.entries(EXAMPLES))(
  '%s runs as it stands, and the sandbox holds what it accepted',
  async (name, wanted) => {
    const directory = copyExamples();
    const job = wanted.name ?? name;
    await wanted.before?.(directory);
    const before = wanted.before === undefined ? [] : readLedgerOf(directory, job);

    const { code, stdout, stderr } = await (WATCHED.includes(name) ? runWatched : runHere)(directory, name);

    expect(code, stderr).toBe(0);
    const summary = JSON.parse(stdout) as Summary;
    expect(summary.state).toBe('finished');
    expectEveryRowOnce(summary);
    for (const [number, balance] of Object.entries(wanted.balances)) {
      expect(summary.steps[Number(number) - 1]?.balance).toMatchObject(balance);
    }
    const ledger = readLedgerOf(directory, job);
    wanted.expectLedger(ledger.slice(before.length), summary);

    expect((await runHere(directory, name)).code).toBe(0);
    expect(readLedgerOf(directory, job)).toEqual(ledger);
  },
);

/** A code went to each number, and the people gave theirs. */
async function sendCodes(directory: string): Promise<void> {
  expect((await runHere(directory, 'number-check')).code).toBe(0);
  execFileSync(process.execPath, [join(directory, 'samples/people-answer.mjs')]);
}

function expectOnly(ledger: readonly LedgerEntry[], area: LedgerEntry['area'], count: number): void {
  expect(ledger.map((entry) => entry.area)).toEqual(Array(count).fill(area));
}

/** Nothing that it does leaves this machine, and no name but localhost is asked for. */
async function runWatched(directory: string, name: string) {
  const record = aNetworkRecord();
  const { nodeArguments } = record;
  const env = { PATH: process.env.PATH ?? '', ...record.env };
  const ended = await new Running(['run', `jobs/${name}.yaml`], { cwd: directory, env, nodeArguments }).ended;
  expect(record.started).toBeGreaterThan(0);
  expect(record.outside).toEqual([]);
  return ended;
}

function runHere(directory: string, name: string) {
  return runCommandInProcess(['run', `jobs/${name}.yaml`], { cwd: directory, env: {} });
}
