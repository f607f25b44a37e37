import { readdirSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { beginPeople, createHadLookup, type KnownPeople } from '../../src/people/had-already.js';
import { NO_RUN, PeopleTable } from '../../src/people/people-table.js';
import { readPlan } from '../../src/plan/format/plan-file.js';
import { nodeFiles } from '../../src/storage/files.js';
import { aJob, anSmsStep, numberOf } from '../e2e/a-job.js';
import { aDiskOf, killAfter } from '../e2e/a-mortal-command.js';
import { aWorkspaceInProcess } from '../e2e/a-workspace.js';

type PeopleRun = KnownPeople['runs'][number];

const DAY_MS = 86_400_000;
const NUMBER = 6_591_000_001;
const TEXT = 7;

function aRun(changes: Partial<PeopleRun>): PeopleRun {
  const job = { job: 'sale', account: '', group: '' };
  const head = { format: 1, plan: 'p', begun: 'b', directory: '/out/sale/p', ...job } as const;
  return { ...head, sentAt: 0, isOver: true, records: 1, state: 'accepted', ...changes };
}

async function findAfter(days: number, run: PeopleRun, place = 0) {
  const table = new PeopleTable();
  await table.load(1, async (take) => take(NUMBER, TEXT, place));
  const runs = [...Array.from({ length: place }, () => aRun({ plan: 'another', state: 'to-send' })), run];
  const known = { table, runs, counts: 'none', retried: undefined, texts: undefined } as const;
  const plan = { id: 'own', job: { name: 'other' } };
  const rules = { sameText: 'hold', sameTextWithin: 14 * DAY_MS, frequency: undefined, plan } as const;
  return createHadLookup(known, rules, { nowMs: days * DAY_MS }).find(NUMBER, () => TEXT)?.reason;
}

test('what an unfinished run has sent counts for a time, and what it has yet to send for as long as it may', async () => {
  const unfinished = aRun({ isOver: false });
  expect(await findAfter(13, unfinished)).toMatch(/had exactly this text from run p of job sale, on 1 January 1970$/);
  expect(await findAfter(15, unfinished)).toBeUndefined();
  expect(await findAfter(15, aRun({ isOver: false, state: 'in-doubt' }))).toBeUndefined();
  expect(await findAfter(15, aRun({ isOver: false, state: 'to-send' }))).toMatch(
    /or will have it: it is not finished$/,
  );
});

test('of more runs than 16 bits can count the right one is named', async () => {
  expect(await findAfter(1, aRun({ plan: 'last' }), 70_000)).toContain('from run last of job sale');
});

test('of a hundred thousand messages those of each number are found, the last that was added first, and none that does not count', async () => {
  const messages = Array.from(
    { length: 100_000 },
    (_, at) => [6_580_000_000 + ((at * 7919) % 30_011), at, at % 5] as const,
  );
  const table = new PeopleTable();
  await table.load(messages.length, async (take) => {
    for (const [number, text, run] of messages) take(number, text, run === 4 ? NO_RUN : run);
  });

  const expected = new Map<number, number[]>();
  for (const [number, text, run] of messages)
    if (run !== 4) expected.set(number, [text, ...(expected.get(number) ?? [])]);
  for (let number = 6_580_000_000; number < 6_580_031_000; number += 1) {
    const texts: number[] = [];
    table.findRun(number, (text) => {
      texts.push(text);
      return false;
    });
    expect(texts).toEqual(expected.get(number) ?? []);
  }
});

test('of two runs that resume in one moment at most one sends to a person that both had held', async () => {
  const workspace = await aWorkspaceInProcess();
  const hang = () => workspace.setFaults({ kind: 'latency', delayMs: 60_000, area: 'sms', nth: 1 });
  const runs: { name: string; directory: string }[] = [];
  const jobs = { before: [1, 9], one: [2, 11, 12, 13, 9], two: [3, 21, 22, 23, 9] };
  for (const [name, ids] of Object.entries(jobs)) {
    workspace.write(`${name}.csv`, `name,mobile\n${ids.map((id) => `P${id},${numberOf(id)}\n`).join('')}`);
    const step = anSmsStep({ input: { files: `${name}.csv` }, batchSize: 1 });
    workspace.writeJob(aJob(workspace, { name, steps: [step] }), `${name}.yaml`);
  }
  for (const name of ['one', 'two']) {
    const { directory } = JSON.parse((await workspace.volley('plan', `${name}.yaml`)).stdout);
    runs.push({ name, directory });
  }
  hang();
  await killAfter(1, workspace, 'run', 'before.yaml');
  for (const [index, { directory }] of runs.entries()) {
    hang();
    await killAfter(2 + index, workspace, 'apply', directory);
  }
  const [before] = readdirSync(workspace.path('out/before')).filter((name) => name.startsWith('20'));
  expect((await workspace.volley('abandon', `out/before/${before}`)).code).toBe(0);

  const times = { nowMs: Date.now(), onNotice: () => {} };
  const [one, two] = await Promise.all(
    runs.map(async ({ directory }) => ({ directory, plan: await readPlan(nodeFiles, directory) })),
  );
  if (one === undefined || two === undefined) throw new Error('two plans were made');
  let meanwhile: ReturnType<typeof beginPeople> | undefined;
  const disk = aDiskOf(async (operation, act) => {
    if (operation.startsWith('open') && operation.includes(`/${one.plan.id}-`) && operation.endsWith('.part'))
      meanwhile ??= beginPeople(nodeFiles, two, times);
    await meanwhile;
    return act();
  });
  const finds = [await beginPeople(disk.files, one, times), await meanwhile];

  expect(meanwhile).toBeDefined();
  const text = crc32('Hi P9', crc32('ACME\n'));
  expect(finds.filter((find) => find?.(Number(numberOf(9)), () => text) === undefined)).toHaveLength(1);
});
