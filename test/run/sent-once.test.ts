import { describe, expect, it } from 'vitest';
import { numberOf, numbersOf, people } from '../e2e/a-job.js';
import { aCommandLine } from './a-command-line.js';

/** The answer to P2 is lost, though the service took it; a person says that it was not sent, and P2 is retried. */
async function aWrongWord() {
  const line = await aCommandLine();
  line.workspace.setFaults({ kind: 'reset-after', nth: 2 });
  line.write('a.csv', people(3));
  const { told: first } = await line.run();
  line.workspace.setFaults();
  await line.settle(first.directory, 'not-sent', 1);
  const { told: retried } = await line.retry(first.directory, 'not-sent');
  expect(retried.state).toBe('planned');
  return { line, first: first.directory, retried: retried.directory };
}

describe('a receipt that comes after `volley retry`', () => {
  it('keeps its row from being sent: the plan is refused, and made anew without it', async () => {
    const { line, first, retried } = await aWrongWord();
    expect(await line.receive(first)).toBe(3);

    const { error } = await line.apply(retried);

    expect(error).toMatchObject({ code: 'plan-mismatch', hint: expect.stringContaining('volley retry') });
    expect(await line.retry(first, 'not-sent')).toMatchObject({ told: { steps: [{ counts: { planned: 0 } }] } });
    expect(await line.apply(retried)).toMatchObject({ code: 0 });
    expect(await line.sentTo()).toEqual(numbersOf(3));
  });

  it('keeps it from being sent by a run that had begun: what is left without it is retried', async () => {
    const line = await aCommandLine();
    line.workspace.setFaults({ kind: 'reset-after', nth: [1, 2] }, { kind: 'reset-before', nth: 3 });
    line.write('a.csv', people(3));
    const { told: first } = await line.run();
    await line.settle(first.directory, 'not-sent', 3);
    line.workspace.setFaults({ kind: 'status-401' });
    const { told: retried } = await line.retry(first.directory, 'not-sent');
    expect((await line.apply(retried.directory)).code).toBe(4);
    line.workspace.setFaults();
    expect(await line.receive(first.directory)).toBe(2);

    for (const give of [() => line.apply(retried.directory), line.run]) {
      expect(await give()).toMatchObject({
        error: { code: 'plan-mismatch', hint: expect.stringContaining('unprocessed') },
      });
    }
    const { told: left } = await line.retry(retried.directory, 'unprocessed');
    expect(left).toMatchObject({ steps: [{ counts: { planned: 1 } }], left: { received: 2 } });
    await line.apply(left.directory);
    expect((await line.run()).error).toBeUndefined();
    expect(await line.sentTo()).toEqual(numbersOf(3));
  });

  it('ends a run that has nothing else to send', async () => {
    const { line, first, retried } = await aWrongWord();
    line.workspace.setFaults({ kind: 'status-401' });
    await line.apply(retried);
    line.workspace.setFaults();
    await line.receive(first);
    expect((await line.run()).error).toMatchObject({ code: 'plan-mismatch' });

    expect((await line.retry(retried, 'unprocessed')).told).toMatchObject({ state: 'nothing-to-retry' });

    expect((await line.run()).told).toMatchObject({ state: 'finished' });
    expect(await line.sentTo()).toEqual(numbersOf(3));
  });

  it('counts for every plan that has the row after that run', async () => {
    const { line, first, retried } = await aWrongWord();
    line.workspace.setFaults({ kind: 'reject-rows', rows: 1 });
    await line.apply(retried);
    line.workspace.setFaults();
    const { told } = await line.retry(retried, 'rejected');
    await line.receive(first);

    expect((await line.apply(told.directory)).error).toMatchObject({ code: 'plan-mismatch' });
    expect(await line.retry(retried, 'rejected')).toMatchObject({ told: { steps: [{ counts: { planned: 0 } }] } });
    await line.apply(told.directory);
    expect(await line.sentTo()).toEqual(numbersOf(3));
  });

  it('that says only that the service refused the message keeps no row: it was not sent', async () => {
    const { line, first, retried } = await aWrongWord();
    await line.receive(first, 'rejected');
    expect((await line.apply(retried)).told).toMatchObject({ state: 'finished' });

    const other = await aCommandLine();
    other.workspace.setFaults({ kind: 'reset-after', nth: 2 });
    other.write('a.csv', people(3));
    const { told } = await other.run();
    other.workspace.setFaults();
    await other.receive(told.directory, 'rejected');
    await other.settle(told.directory, 'sent', 0);
    const { told: refused } = await other.retry(told.directory, 'rejected');
    expect((await other.apply(refused.directory)).told).toMatchObject({ balance: { accepted: 1 } });
  });
});

/** P2 is refused by the service, P4 has no number. */
async function aRunWithRejections() {
  const line = await aCommandLine();
  line.workspace.setFaults({ kind: 'reject-rows', endingWith: '002' });
  line.write('a.csv', `${people(3)}P4,n/a\n`);
  const { told } = await line.run();
  line.workspace.setFaults();
  const file = await line.rejectionsOf(told.directory);
  return { line, first: told.directory, file, id: String(told.plan) };
}

describe('an id of a row that was not refused', () => {
  it('is rejected with its place, and so it is when that rejection is fed', async () => {
    const { line, file, id } = await aRunWithRejections();
    line.write('b.csv', file.replace(`${id}-1-1`, `${id}-1-0`).replace(numberOf(2), numberOf(11)));
    const { told } = await line.run();
    const [first] = await line.rowsOf(told.directory, 'rejections');
    expect(first).toMatchObject({ _file: 'in/b.csv', _line: '2', _code: 'bad-id', _rowId: `${id}-1-0` });

    line.write('c.csv', await line.rejectionsOf(told.directory));
    expect((await line.run()).told).toMatchObject({ steps: [{ rejections: { 'bad-id': 1 } }] });
    expect(await line.sentTo()).toEqual([numberOf(1), numberOf(3)]);
  });

  it('is rejected in a row of a run that is in doubt, or was stopped', async () => {
    const line = await aCommandLine();
    line.workspace.setFaults(
      { kind: 'reject-rows', nth: 1 },
      { kind: 'reset-after', nth: 2 },
      { kind: 'status-401', nth: 3 },
    );
    line.write('a.csv', people(3));
    const { told } = await line.run();
    line.workspace.setFaults();
    const [header, row = ''] = (await line.rejectionsOf(told.directory)).split('\n');
    const forged = [1, 2].map((index) =>
      row.replace(/-1-0$/, `-1-${index}`).replace(numberOf(1), numberOf(10 + index)),
    );
    line.write('b.csv', [header, ...forged, ''].join('\n'));
    expect((await line.apply(told.directory)).code).toBe(3);
    expect((await line.run()).told).toMatchObject({ steps: [{ rejections: { 'bad-id': 2 } }] });
    expect(await line.sentTo()).toEqual([numberOf(2), numberOf(3)]);
  });
});

describe('rows that `volley retry` took', () => {
  it('are not sent by a plan that had them as a draft before, and where the plan that took them was deleted', async () => {
    const { line, first, file } = await aRunWithRejections();
    line.write('b.csv', file);
    const { told: draft } = await line.plan();
    const { told } = await line.retry(first, 'rejected');
    await line.apply(told.directory);
    line.forget(told.directory);

    const { error } = await line.apply(draft.directory);

    expect(error?.problems).toMatchObject([
      { where: 'in/b.csv:2', message: expect.stringContaining('is gone, and may have sent it') },
    ]);
    expect(await line.sentTo()).toEqual(numbersOf(3));
  });
});

/** Two people, and a third whose number no plan can read without a country; the plan is a draft, and its rejections are fixed. */
/** `mark`: the file of the row is saved anew with it behind the draft, so that it is not known to be the same before it was read. */
async function aDraft(name: string, mark = '') {
  const line = await aCommandLine();
  line.write('people.csv', `${people(2)}P3,91000003\n`);
  const { told } = await line.plan();
  const file = await line.rejectionsOf(told.directory);
  line.write(name, file.replace('91000003', numberOf(13)));
  line.write('people.csv', `${mark}${people(2)}P3,91000003\n`);
  return line;
}

describe('a row that two plans refused', () => {
  it.each(['fixed.csv', 'the-fixed.csv'])('is sent once, whichever of its ids is fed (%s)', async (name) => {
    const line = await aDraft(name, '\uFEFF');
    const { told } = await line.run();
    expect(told).toMatchObject({ balance: { accepted: 3, rejected: 1 } });

    const again = await line.rejectionsOf(told.directory);
    line.write('again.csv', again.replace('91000003', numberOf(23)));
    const { told: second } = await line.run();

    expect(second).toMatchObject({ balance: { read: 1, skipped: 1 } });
    expect(await line.sentTo()).toEqual([numberOf(1), numberOf(2), numberOf(13)]);
  });

  it('is kept once where both ids are fed at once', async () => {
    const line = await aDraft('x.csv');
    const fixed = line.take('x.csv');
    const { told } = await line.run();
    line.write('a.csv', fixed);
    line.write('b.csv', (await line.rejectionsOf(told.directory)).replace('91000003', numberOf(23)));
    expect((await line.run()).told).toMatchObject({ balance: { read: 2, accepted: 1, skipped: 1 } });
    expect(await line.sentTo()).toEqual([numberOf(1), numberOf(2), numberOf(13)]);
  });

  it('is skipped once a run has sent it from its own file', async () => {
    const line = await aDraft('x.csv');
    const fixed = line.take('x.csv');
    line.writeJob({ input: { files: 'in/*.csv', country: 'SG' } });
    await line.run();
    line.write('x.csv', fixed);
    expect((await line.run()).told).toMatchObject({ balance: { read: 1, skipped: 1 } });
    expect(await line.sentTo()).toEqual(numbersOf(3));
  });

  it.each(['fixed.csv', 'the-fixed.csv'])('refuses a plan that could send it from both files (%s)', async (name) => {
    const line = await aDraft(name, '\uFEFF');
    line.writeJob({ input: { files: 'in/*.csv', country: 'SG' } });

    const { error } = await line.run();

    const told = { where: `in/${name}:2`, message: expect.stringContaining('in/people.csv') };
    expect(error).toMatchObject({ code: 'plan-mismatch', problems: [told] });
    expect(await line.sentTo()).toEqual([]);
    line.take(name);
    await line.run();
    expect(await line.sentTo()).toEqual(numbersOf(3));
  });
});
