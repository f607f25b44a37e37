import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { ERROR_CODE } from '../../src/sandbox/http-answer.js';
import type { SmsEntry } from '../../src/sandbox/sms/batch-schema.js';
import { readFailure, startUntilDone } from '../e2e/command.js';
import { runCommandInProcess } from '../e2e/command-in-process.js';
import { ownError } from '../service/an-answer.js';
import { copyExamples, readLedgerOf } from './copied-examples.js';

const JOB = 'jobs/autumn-sale.yaml';
const OWN_NUMBER = '+6591000007';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const directory = copyExamples();

const volley = (...args: string[]) => volleyAs('', ...args);

async function volleyAs(person: string, ...args: string[]) {
  const env = { PATH: process.env.PATH ?? '', ...(person !== '' && { VOLLEY_ACTOR: person }) };
  const { code, stdout, stderr } = await runCommandInProcess(args, { cwd: directory, env });
  return { code, stdout, stderr, json: stdout.startsWith('{') ? JSON.parse(stdout) : undefined };
}

/** What the sandbox accepted so far. */
function readSms(job = 'autumn-sale'): SmsEntry[] {
  return readLedgerOf(directory, job).filter((entry) => entry.area === 'sms');
}

test('the autumn sale, from an export to the report, as jobs/README.md has it', async () => {
  // A job is guessed from an export, and says on what each guess rests.
  const init = await volley('init', 'samples/exports/shopify-customers.csv', '--output', 'jobs/guessed.yaml');
  expect(init).toMatchObject({ code: 0, json: { state: 'written', destination: 'Phone', validNumbers: 46 } });
  expect(readFileSync(join(directory, 'jobs/guessed.yaml'), 'utf8')).toContain(
    '# where: { Accepts SMS Marketing: "yes" }',
  );

  // The reminder is put off to a day of this week.
  const path = join(directory, JOB);
  const day = new Date(Date.now() + 2 * DAY_MS).toISOString().slice(0, 10);
  const written = readFileSync(path, 'utf8');
  const scheduled = written.replace(/# (scheduled: \{ at: ")[\d-]+/, `$1${day}`);
  expect(scheduled).not.toBe(written);
  writeFileSync(path, scheduled);

  // What each of them gets, and what it costs.
  const preview = await volley('preview', JOB, '--count', '1');
  expect(preview.code).toBe(0);
  expect(
    preview.json.rows.map(({ sms, price }: { sms: object; price: object }) => ({ ...sms, ...price })),
  ).toMatchObject([
    { encoding: 'GSM7', parts: 1, scheduled: null, amount: '0.042', replaced: { length: 3 } },
    {
      encoding: 'GSM7',
      parts: 1,
      scheduled: { at: `${day}T10:00:00+08:00`, timeZone: 'Asia/Singapore' },
      amount: '0.042',
      replaced: [],
    },
  ]);

  // Nothing leaves before a test of the plan.
  expect(await volley('run', JOB)).toMatchObject({ code: 4, json: { error: { code: 'guard' } } });
  const plan = await volley('plan', JOB);
  expect(plan).toMatchObject({ code: 0, json: { state: 'planned', prices: { total: '2.016', currency: 'EUR' } } });
  const { directory: run, plan: id } = plan.json;
  expect(await volley('apply', run, '--confirm', id)).toMatchObject({ code: 4, json: { error: { code: 'guard' } } });
  expect(readSms()).toEqual([]);

  const tested = await volley('test', run, '--longest');
  expect(tested).toMatchObject({ code: 0, json: { state: 'finished', testOf: { plan: id, numbers: 1 } } });
  expect(readSms().map(({ destination, scheduled }) => ({ destination, scheduled }))).toEqual(
    Array(2).fill({ destination: OWN_NUMBER, scheduled: null }),
  );

  // What was confirmed leaves, to each once; those who did not agree get nothing.
  const applied = await volley('apply', run, '--confirm', id);
  expect(applied).toMatchObject({
    code: 0,
    json: {
      balance: { read: 100, accepted: 48, rejected: 7, skipped: 45, inDoubt: 0, unprocessed: 0 },
      cost: { planned: '2.016', accepted: '2.016' },
    },
  });
  const sent = readSms().slice(2);
  expect(new Set(sent.map(({ destination }) => destination)).size).toBe(48);
  expect(sent.filter(({ text }) => text.includes('autumn sale begins - 20% off "everything"'))).toHaveLength(26);

  // On second thoughts: no reminder.
  const cancelled = await volley('cancel', run);
  expect(cancelled).toMatchObject({ code: 0, json: { state: 'cancelled', cancelled: 22, kept: 0, inDoubt: 0 } });

  // A proof that others can check without Volley; one that was changed is refused.
  expect(await volley('proof', run)).toMatchObject({ code: 0 });
  const proof = resolve(directory, run, 'proof.json');
  const verify = () => spawnSync(process.execPath, [resolve(directory, run, 'verify.mjs'), proof]).status;
  expect(verify()).toBe(0);
  const proven = readFileSync(proof, 'utf8');
  writeFileSync(proof, proven.replace('"accepted"', '"rejected"'));
  expect(verify()).toBe(1);
  writeFileSync(proof, proven);

  // The report, and the record.
  const html = readFileSync(join((await volley('report', run)).json.directory, 'report.html'), 'utf8');
  expect(html).toContain('26');
  expect(html).not.toMatch(/\+65\d{8}/);
  const runs = await volley('runs', JOB);
  expect(runs.json.runs.map((each: { run: string; testOf?: string }) => [each.run, each.testOf])).toEqual([
    [id, undefined],
    [tested.json.plan, id],
  ]);

  // People's data goes; what was sent stays sent.
  const pruned = await volley('prune', JOB, '--older-than', '0h');
  expect(pruned.json).toMatchObject({ state: 'pruned', pruned: { length: 2 } });
  const left = readdirSync(join(directory, 'out/autumn-sale'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  for (const { destination } of sent) expect(left.join('\n')).not.toContain(destination.slice(1));
  expect(await volley('run', JOB)).toMatchObject({ code: 0, json: { state: 'nothing-new' } });
  expect(readSms()).toEqual([]);

  // The export has grown by one: who had the offer does not get it again, also once their rows are gone.
  const exported = join(directory, 'samples/exports/shopify-customers.csv');
  const [, zara = ''] = readFileSync(exported, 'utf8').split('\n');
  appendFileSync(exported, `${zara.replace('Zara', 'Zoe').replace('+6591001001', '+6591009999')}\n`);
  const grown = await volley('plan', JOB);
  expect(grown.json.steps[0]).toMatchObject({ counts: { planned: 1 }, had: { rule: 'hold', runs: [{ rows: 26 }] } });
  expect((await volley('test', grown.json.directory)).code).toBe(0);
  expect((await volley('apply', grown.json.directory, '--confirm', grown.json.plan)).json.balance.accepted).toBe(1);
  expect(readSms().at(-1)).toMatchObject({ destination: '+6591009999' });
});

test('its last days: another person approves, a bad sample, a STOP in mid-run, and the evening, as jobs/README.md has it', async () => {
  // The same people, another text, in the hours of a job that STOPs are taken down for.
  const path = join(directory, 'jobs/last-days.yaml');
  const written = readFileSync(join(directory, JOB), 'utf8')
    .replace('name: autumn-sale', 'name: last-days')
    .replace('# window:', 'window:')
    .replace('# optOuts:', 'optOuts:')
    .replace(/requireTest: true .*/, 'requireApproval: 1')
    .replace('the autumn sale begins', 'the last days of the autumn sale')
    .replace('destination: Phone\n', `destination: Phone\n    batchSize: 5\n    ramp: ${RAMP}\n`)
    .replace(/ {2}# The reminder.*(?=output:)/s, '');
  writeFileSync(path, written);
  mkdirSync(join(directory, 'lists'));
  const listen = ['listen', '--opt-outs', 'lists/opt-outs.csv', '--port', '0'];
  const { origin } = JSON.parse(await startUntilDone(listen, { cwd: directory }).firstLine());
  const answerStop = async (source: string) => {
    const payload = { umid: 'u-1', source, destination: 'ACME', body: 'Stop!' };
    const event = { namespace: 'SMS', eventType: 'inbound_message_received', payload };
    expect((await fetch(origin, { method: 'POST', body: JSON.stringify(event) })).status).toBe(200);
  };

  let nowMs = evening() - HOUR_MS;
  const left: string[][] = [];
  const volleyAt = async (person: string, ...args: string[]) => {
    const runtime = { ...nodeEnv, clock: { ...nodeEnv.clock, now: () => nowMs }, loadTransport };
    const ended = await runCommandInProcess(args, { cwd: directory, env: { VOLLEY_ACTOR: person }, runtime });
    return { ...ended, json: JSON.parse(ended.stdout) };
  };
  // Of the rest, a person of the second request answers the first one; the window closes behind the second.
  let sample: number | undefined;
  let stopped = '';
  let refused = '';
  const loadTransport: typeof nodeEnv.loadTransport = async () => {
    const create = await nodeEnv.loadTransport();
    return (timeouts) => {
      const { send, close } = create(timeouts);
      return {
        close,
        send: async (call, signal) => {
          const messages: SmsEntry[] = JSON.parse(String(call.body)).messages;
          const numbers = messages.map(({ destination }) => destination);
          if (numbers.includes(refused)) return { kind: 'response', status: 400, headers: {}, body: NO_ROUTE };
          const answer = await send(call, signal);
          left.push(numbers);
          if (left.length - 1 === sample) await answerStop(stopped);
          if (left.length - 2 === sample) nowMs += 30_000;
          return answer;
        },
      };
    };
  };

  // Bob approves what Ann has planned; under another limit it is another plan, and his word counts no more.
  const plan = () => volleyAt('ann', 'plan', 'jobs/last-days.yaml');
  const approve = ({ directory: run, planSha256 }: { directory: string; planSha256: string }) =>
    volleyAt('bob', 'approve', run, '--confirm', planSha256);
  await approve((await plan()).json);
  writeFileSync(path, written.replace('maxCost: "2.50"', 'maxCost: "9.50"'));
  const { json: planned } = await plan();
  const lines = readFileSync(join(planned.directory, '1-sms.requests.ndjson'), 'utf8').trim().split('\n');
  const requests: { stage: number; body: { messages: SmsEntry[] } }[] = lines.map((line) => JSON.parse(line));
  const messages = requests.flatMap(({ body }) => body.messages);
  refused = requests.find(({ stage }) => stage === 1)?.body.messages[0]?.destination ?? '';
  stopped = requests.filter(({ stage }) => stage === 2)[1]?.body.messages[1]?.destination ?? '';
  const apply = (...flags: string[]) => volleyAt('ann', 'apply', planned.directory, ...flags);
  expect(readFailure(await apply())).toMatchObject({ exitCode: 4, error: { code: 'guard' } });
  expect(left).toEqual([]);
  expect((await approve(planned)).code).toBe(0);

  // Of six in the sample the service refuses one: nothing more leaves until Ann has looked.
  const held = await apply();
  expect([held.code, held.json.stop.reason, held.json.balance.accepted]).toEqual([4, 'held', 5]);
  expect((await apply()).code).toBe(4);
  expect(left.flat()).toHaveLength(5);
  sample = left.length;
  nowMs = evening();

  // What was planned leaves to the byte, but for the one; at eight in the evening the run says when it goes on.
  const closed = await apply('--pass-stage', '1', '--confirm', planned.plan);
  expect(readFailure(closed)).toMatchObject({ exitCode: 75, error: { code: 'closed' } });
  expect(closed.stderr).toMatch(/it opens next on .* at 01:00 UTC \(.* at 09:00 Asia\/Singapore\), for SG/);
  expect(left).toHaveLength(sample + 2);

  // In the morning the same command goes on.
  nowMs += 14 * HOUR_MS;
  const { code, json } = await apply();
  expect([code, json.balance]).toEqual([0, expect.objectContaining({ accepted: messages.length - 2, unprocessed: 1 })]);
  expect(json.steps[0].notSent).toEqual({ 'opted-out': 1 });
  const said = (list: SmsEntry[]) =>
    list.map(({ destination, text, clientMessageId }) => `${destination} ${clientMessageId} ${text}`).sort();
  const others = messages.filter(({ destination }) => destination !== stopped && destination !== refused);
  expect(said(readSms('last-days'))).toEqual(said(others));
});

test('recall is planned by one person, approved by another and then sent, as jobs/README.md has it', async () => {
  expect((await volleyAs('ann', 'run', 'jobs/recall.yaml')).code).toBe(4);
  const { json: planned } = await volleyAs('ann', 'plan', 'jobs/recall.yaml');
  expect((await volleyAs('ann', 'approve', planned.directory, '--confirm', planned.planSha256)).code).toBe(4);
  expect((await volleyAs('bob', 'approve', planned.directory, '--confirm', planned.planSha256)).code).toBe(0);

  const sent = await volleyAs('ann', 'apply', planned.directory);

  expect(sent).toMatchObject({ code: 0, json: { balance: { read: 9, accepted: 8, rejected: 1 } } });
});

/** A fifth of the people first; the others if the service takes nine of ten. */
const NO_ROUTE = Buffer.from(JSON.stringify(ownError('sms', ERROR_CODE.invalidMsisdn, 'No route')));
const RAMP = '[{ share: 20% }]';

/** A minute and a half before eight in Singapore, on a day that like the next one is no Sunday; ahead of all that was sent. */
function evening(): number {
  const day = new Date(Date.now() + DAY_MS);
  while ([0, 6].includes(day.getUTCDay())) day.setTime(day.getTime() + DAY_MS);
  return Date.parse(`${day.toISOString().slice(0, 10)}T19:58:35+08:00`);
}
