import { rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRunName } from '../../src/plan/format/run-directories.js';
import { anSmsStep, numberOf, numbersOf, people } from '../e2e/a-job.js';
import { aWorkspaceInProcess, OTHER_ACCOUNT } from '../e2e/a-workspace.js';
import { readOutput, rejectionsOf } from '../e2e/account.js';
import { anEventLine, aReceipt } from '../listen/events.js';

/** A job that sends whatever lies in its inbox, one message a request unless the step says otherwise. */
async function anInbox() {
  const workspace = await aWorkspaceInProcess();
  const writeJob = (step: object = {}) =>
    workspace.change({ steps: [anSmsStep({ input: { files: 'in/*.csv' }, batchSize: 1, ...step })] });
  writeJob();
  return {
    workspace,
    writeJob,
    write: (name: string, text: string) => workspace.write(`in/${name}`, text),
    /** Takes a file out of the inbox again. */
    take: (name: string) => {
      const text = workspace.read(`in/${name}`);
      rmSync(workspace.path(`in/${name}`));
      return text;
    },
    run: () => workspace.told('run', 'job.yaml'),
    apply: (run: string) => workspace.told('apply', run, '--ignore-changed-inputs'),
    /** The rejections file of a run, as it would be written now. */
    rejectionsOf: async (run: string, step = 1) => {
      await workspace.told('report', run);
      return rejectionsOf(run, `${step}-sms`);
    },
    /** The service sends a receipt of each message of a run that it took, and the listener keeps it. */
    receive: async (run: string, state = 'delivered') => {
      const plan = readRunName(basename(run));
      const own = (await workspace.sms()).filter((entry) => entry.clientMessageId?.startsWith(`${plan}-`));
      const lines = own.map(({ clientMessageId, destination, umid }) =>
        anEventLine(aReceipt({ payload: { clientMessageId, destination, umid }, status: { state } })),
      );
      writeFileSync(`${run}/receipts.ndjson`, lines.join(''));
      return own.length;
    },
  };
}

/** The answer to P2 is lost, though the service took it; a person says that it was not sent, and P2 is retried. */
async function aWrongWord() {
  const line = await anInbox();
  line.workspace.setFaults({ kind: 'reset-after', nth: 2 });
  line.write('a.csv', people(3));
  const first = await line.run();
  await line.workspace.settle(first.directory, 'not-sent', 1);
  const retried = await line.workspace.retry(first.directory, 'not-sent');
  expect(retried.state).toBe('planned');
  return { line, first: first.directory, retried: retried.directory };
}

describe('a receipt that comes after `volley retry`', () => {
  it('keeps its row from being sent: the plan is refused, and made anew without it', async () => {
    const { line, first, retried } = await aWrongWord();
    expect(await line.receive(first)).toBe(3);

    const { error } = await line.apply(retried);

    expect(error).toMatchObject({ code: 'plan-mismatch', hint: expect.stringContaining('volley retry') });
    expect(await line.workspace.retry(first, 'not-sent')).toMatchObject({ steps: [{ counts: { planned: 0 } }] });
    expect(await line.apply(retried)).toMatchObject({ exitCode: 0 });
    expect(await line.workspace.destinations()).toEqual(numbersOf(3));
  });

  it('keeps it from being sent by a run that had begun: what is left without it is retried', async () => {
    const line = await anInbox();
    line.workspace.setFaults({ kind: 'reset-after', nth: [1, 2] }, { kind: 'reset-before', nth: 3 });
    line.write('a.csv', people(3));
    const first = await line.run();
    await line.workspace.settle(first.directory, 'not-sent', 3);
    line.workspace.setFaults({ kind: 'status-401' });
    const retried = await line.workspace.retry(first.directory, 'not-sent');
    expect((await line.apply(retried.directory)).exitCode).toBe(4);
    line.workspace.setFaults();
    expect(await line.receive(first.directory)).toBe(2);

    for (const give of [() => line.apply(retried.directory), line.run]) {
      const error = { code: 'plan-mismatch', hint: expect.stringContaining('unprocessed') };
      expect(await give()).toMatchObject({ error });
    }
    const left = await line.workspace.retry(retried.directory, 'unprocessed');
    expect(left).toMatchObject({ steps: [{ counts: { planned: 1 } }], left: { received: 2 } });
    await line.apply(left.directory);
    expect((await line.run()).error ?? null).toBeNull();
    expect(await line.workspace.destinations()).toEqual(numbersOf(3));
  });

  it('ends a run that has nothing else to send', async () => {
    const { line, first, retried } = await aWrongWord();
    line.workspace.setFaults({ kind: 'status-401' });
    await line.apply(retried);
    line.workspace.setFaults();
    await line.receive(first);
    expect((await line.run()).error).toMatchObject({ code: 'plan-mismatch' });

    expect(await line.workspace.retry(retried, 'unprocessed')).toMatchObject({ state: 'nothing-to-retry' });

    expect(await line.run()).toMatchObject({ state: 'finished' });
    expect(await line.workspace.destinations()).toEqual(numbersOf(3));
  });

  it('counts for every plan that has the row after that run', async () => {
    const { line, first, retried } = await aWrongWord();
    line.workspace.setFaults({ kind: 'reject-rows', rows: 1 });
    await line.apply(retried);
    line.workspace.setFaults();
    const told = await line.workspace.retry(retried, 'rejected');
    await line.receive(first);

    expect((await line.apply(told.directory)).error).toMatchObject({ code: 'plan-mismatch' });
    expect(await line.workspace.retry(retried, 'rejected')).toMatchObject({ steps: [{ counts: { planned: 0 } }] });
    await line.apply(told.directory);
    expect(await line.workspace.destinations()).toEqual(numbersOf(3));
  });

  it('that says only that the service refused the message keeps no row: it was not sent', async () => {
    const { line, first, retried } = await aWrongWord();
    await line.receive(first, 'rejected');
    expect(await line.apply(retried)).toMatchObject({ state: 'finished' });

    const other = await anInbox();
    other.workspace.setFaults({ kind: 'reset-after', nth: 2 });
    other.write('a.csv', people(3));
    const told = await other.run();
    await other.receive(told.directory, 'rejected');
    await other.workspace.settle(told.directory, 'sent', 0);
    const refused = await other.workspace.retry(told.directory, 'rejected');
    expect(await other.apply(refused.directory)).toMatchObject({ balance: { accepted: 1 } });
  });
});

/** P2 is refused by the service, P4 has no number. */
async function aRunWithRejections() {
  const line = await anInbox();
  line.workspace.setFaults({ kind: 'reject-rows', endingWith: '002' });
  line.write('a.csv', `${people(3)}P4,n/a\n`);
  const told = await line.run();
  line.workspace.setFaults();
  const file = await line.rejectionsOf(told.directory);
  return { line, first: told.directory, file };
}

describe('an id of a row that was not refused', () => {
  it('is rejected with its place, and so it is when that rejection is fed', async () => {
    const { line, file } = await aRunWithRejections();
    line.write('b.csv', file.replace(/-2$/m, '-1').replace(numberOf(2), numberOf(11)));
    const told = await line.run();
    const expected = { _file: 'in/b.csv', _line: '2', _code: 'bad-id', _rowId: expect.stringMatching(/-1$/) };
    expect(readOutput(await line.workspace.told('report', told.directory), 1, 'rejections')[0]).toMatchObject(expected);

    line.write('c.csv', await line.rejectionsOf(told.directory));
    expect(await line.run()).toMatchObject({ steps: [{ rejections: { 'bad-id': 1 } }] });
    expect(await line.workspace.destinations()).toEqual([numberOf(1), numberOf(3)]);
  });

  it('is rejected in a row of a run that is in doubt, or was stopped', async () => {
    const line = await anInbox();
    line.workspace.setFaults(
      { kind: 'reject-rows', nth: 1 },
      { kind: 'reset-after', nth: 2 },
      { kind: 'status-401', nth: 3 },
    );
    line.write('a.csv', people(3));
    const told = await line.run();
    const [header, row = ''] = (await line.rejectionsOf(told.directory)).split('\n');
    const forged = [1, 2].map((index) =>
      row.replace(/-1$/, `-${index + 1}`).replace(numberOf(1), numberOf(10 + index)),
    );
    line.write('b.csv', [header, ...forged, ''].join('\n'));
    expect((await line.apply(told.directory)).exitCode).toBe(3);
    expect(await line.run()).toMatchObject({ steps: [{ rejections: { 'bad-id': 2 } }] });
    expect(await line.workspace.destinations()).toEqual([numberOf(2), numberOf(3)]);
  });
});

it('rows that `volley retry` took are not sent by a plan that had them as a draft before, and where the plan that took them was deleted', async () => {
  const { line, first, file } = await aRunWithRejections();
  line.write('b.csv', file);
  const draft = await line.workspace.told('plan', 'job.yaml');
  const told = await line.workspace.retry(first, 'rejected');
  await line.apply(told.directory);
  rmSync(told.directory, { recursive: true });
  const { error } = await line.apply(draft.directory);
  const message = expect.stringContaining('is gone, and may have sent it');
  expect(error.problems).toMatchObject([{ file: 'in/b.csv', line: 2, message }]);
  expect(await line.workspace.destinations()).toEqual(numbersOf(3));
});

/** Two people, and a third whose number no plan can read without a country; the plan is a draft, and its rejections are fixed. */
/** `mark`: the file of the row is saved anew with it behind the draft, so that it is not known to be the same before it was read. */
async function aDraft(name: string, mark = '') {
  const line = await anInbox();
  line.write('people.csv', `${people(2)}P3,91000003\n`);
  const told = await line.workspace.told('plan', 'job.yaml');
  const file = await line.rejectionsOf(told.directory);
  line.write(name, file.replace('91000003', numberOf(13)));
  line.write('people.csv', `${mark}${people(2)}P3,91000003\n`);
  return line;
}

describe('a row that two plans refused', () => {
  it.each(['fixed.csv', 'the-fixed.csv'])('is sent once, whichever of its ids is fed (%s)', async (name) => {
    const line = await aDraft(name, '\uFEFF');
    const told = await line.run();
    expect(told).toMatchObject({ balance: { accepted: 3, rejected: 1 } });

    const again = await line.rejectionsOf(told.directory);
    line.write('again.csv', again.replace('91000003', numberOf(23)));
    expect(await line.run()).toMatchObject({ balance: { read: 1, skipped: 1 } });
    expect(await line.workspace.destinations()).toEqual([numberOf(1), numberOf(2), numberOf(13)]);
  });

  it('is kept once where both ids are fed at once', async () => {
    const line = await aDraft('x.csv');
    const fixed = line.take('x.csv');
    const told = await line.run();
    line.write('a.csv', fixed);
    line.write('b.csv', (await line.rejectionsOf(told.directory)).replace('91000003', numberOf(23)));
    expect(await line.run()).toMatchObject({ balance: { read: 2, accepted: 1, skipped: 1 } });
    expect(await line.workspace.destinations()).toEqual([numberOf(1), numberOf(2), numberOf(13)]);
  });

  it.each(['fixed.csv', 'the-fixed.csv'])('refuses a plan that could send it from both files (%s)', async (name) => {
    const line = await aDraft(name, '\uFEFF');
    line.writeJob({ input: { files: 'in/*.csv', country: 'SG' } });

    const { error } = await line.run();

    const told = { file: `in/${name}`, line: 2, message: expect.stringContaining('in/people.csv') };
    expect(error).toMatchObject({ code: 'plan-mismatch', problems: [told] });
    expect(await line.workspace.destinations()).toEqual([]);
    line.take(name);
    await line.run();
    expect(await line.workspace.destinations()).toEqual(numbersOf(3));
  });
});

const OTHER = { account: OTHER_ACCOUNT.account, subAccountId: OTHER_ACCOUNT.subAccountIds[0] };
const sendAs = ({ workspace }: Awaited<ReturnType<typeof anInbox>>, service: object) =>
  workspace.change({ service: { ...service }, steps: [anSmsStep({ input: { files: 'in/*.csv' }, batchSize: 1 })] });

describe('rows with one number in one file', () => {
  it('of two accounts are two: what one re-imports, the other still retries', async () => {
    const line = await anInbox();
    line.workspace.setFaults({ kind: 'reject-rows', endingWith: '002' });
    line.write('a.csv', people(2));
    const first = await line.run();
    sendAs(line, OTHER);
    const other = await line.run();
    line.workspace.setFaults();
    line.writeJob();
    line.write('b.csv', await line.rejectionsOf(first.directory));
    await line.run();

    const retried = await line.workspace.retry(other.directory, 'rejected');

    expect(retried).toMatchObject({ state: 'planned', left: { retriedBefore: 0 } });
    await line.apply(retried.directory);
    expect(await line.workspace.destinations()).toEqual([1, 1, 2, 2].map(numberOf));
  });

  it('have a twin in the files that their own account read with theirs', async () => {
    const line = await anInbox();
    sendAs(line, OTHER);
    line.write('a.csv', `${people(1)}P2,n/a\n`);
    await line.run();
    line.writeJob();
    line.write('b.csv', people(1, 5));
    const told = await line.run();
    line.write('c.csv', (await line.rejectionsOf(told.directory)).replace('n/a', numberOf(5)));

    expect(await line.run()).toMatchObject({ balance: { accepted: 0, skipped: 1 } });
  });

  it('of two steps are two: one is sent from the file, and the other from the rejections of a draft', async () => {
    const line = await anInbox();
    const readWith = (country: object) =>
      line.workspace.change({
        sameText: 'send',
        steps: [country, {}].map((more) => anSmsStep({ input: { files: 'in/*.csv', ...more } })),
      });
    readWith({});
    line.write('a.csv', `${people(1)}P2,91000002\n`);
    const draft = await line.workspace.told('plan', 'job.yaml');
    line.write('b.csv', (await line.rejectionsOf(draft.directory, 2)).replace('91000002', numberOf(12)));
    readWith({ country: 'SG' });

    expect(await line.run()).toMatchObject({ balance: { accepted: 4 } });
    expect(await line.workspace.destinations()).toEqual([1, 1, 2, 12].map(numberOf));
  });

  it.each([false, true])(
    'of two steps stay two when they are refused once more (their run is gone: %s)',
    async (isGone) => {
      const line = await anInbox();
      line.workspace.change({
        sameText: 'send',
        steps: [1, 2].map(() => anSmsStep({ input: { files: 'in/*.csv' }, batchSize: 1 })),
      });
      line.workspace.setFaults({ kind: 'reject-rows', endingWith: '002' });
      line.write('a.csv', people(2));
      // Corrected, each to another number.
      const feed = async ({ directory }: { directory: string }, name: string) => {
        for (const step of [1, 2]) {
          const file = await line.rejectionsOf(directory, step);
          line.write(`${name}-${step}.csv`, file.replace(/\+65\d{8}/, numberOf(1000 * step + 2)));
        }
      };
      const first = await line.run();
      await feed(first, 'b');
      const second = await line.run();
      if (isGone) rmSync(first.directory, { recursive: true });
      line.workspace.setFaults();
      await feed(second, 'c');

      expect(await line.run()).toMatchObject({ balance: { accepted: 2, skipped: 2 } });

      expect(await line.workspace.destinations()).toEqual([1, 1, 1002, 2002].map(numberOf));
    },
  );
});
