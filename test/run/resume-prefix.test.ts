import { describe, expect, it } from 'vitest';
import { decodeLine, encodeLine, type JournalEntry } from '../../src/journal/entry-format.js';
import { StopSwitch } from '../../src/run/stop.js';
import { aContactsStep, aPlan, aPlanOfBatches, linesOf, someLimits } from '../plan/a-plan.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import {
  aRun,
  aScriptedService,
  cutJournal,
  duplicatesAmong,
  journalOf,
  reportOf,
  response,
  type Sent,
  writeJournal,
} from './a-run.js';

const BAD_ROW = 4;
const refuseBad = ({ rows }: Sent) =>
  rows.includes(BAD_ROW) ? response(400, { code: 1002, message: 'Invalid MSISDN' }) : undefined;

/** A run to its end, with a batch that was split and one that was sent again, and its whole journal. */
async function aFinishedRun() {
  let isFirst = true;
  const service = aScriptedService((sent) => {
    if (sent.rows[0] === 6 && isFirst) {
      isFirst = false;
      return response(503, {});
    }
    return refuseBad(sent);
  });
  const made = await aPlanOfBatches(9, { batchSize: 3, concurrency: 2 });
  await aRun({ made, service });
  return { made, service, journal: journalOf(made) };
}

/** What the service had accepted when the journal was so far, at the most: the requests with an intent in it. */
function acceptedBy(entries: readonly JournalEntry[], planId: string): string[] {
  const rows = new Map<string, readonly [number, number]>();
  for (const entry of entries) {
    if (entry.type === 'intent') rows.set(`${entry.request}/${entry.part}`, entry.rows);
    if (entry.type === 'outcome' && entry.result.kind !== 'settled') rows.delete(`${entry.request}/${entry.part}`);
  }
  return [...rows.values()]
    .map(([first, count]) => Array.from({ length: count }, (_, index) => first + index))
    .filter((batch) => !batch.includes(BAD_ROW))
    .flatMap((batch) => batch.map((row) => `${planId}-1-${row}`));
}

describe('a run that is resumed from a part of its journal', () => {
  it('sends no row twice and loses none, wherever the journal was cut', async () => {
    const { made, journal } = await aFinishedRun();
    const bytes = Buffer.from(journal);
    const cuts = new Set<number>([0]);
    for (let at = 0; at < bytes.length; at = bytes.indexOf('\n', at) + 1) {
      const end = bytes.indexOf('\n', at) + 1;
      for (const cut of [end, end - 1, at + 1, at + 9, Math.floor((at + end) / 2)]) cuts.add(cut);
    }
    expect(cuts.size).toBeGreaterThan(60);
    for (const cut of cuts) {
      const prefix = bytes.subarray(0, cut).toString();
      const files = { ...made.disk.snapshot(made.directory), 'journal.ndjson': prefix };
      const paths = Object.entries(files).map(([name, text]) => [`${made.directory}/${name}`, text]);
      const disk = aMemoryDisk(Object.fromEntries(paths));
      const entries = linesOf(prefix).flatMap((line) => decodeLine(Buffer.from(line))?.entry ?? []);
      const service = aScriptedService(refuseBad);
      const before = acceptedBy(entries, made.plan.id);
      const run = { ...made, disk };
      expect((await aRun({ made: run, service, epoch: 2 })).end.reason).toBe('finished');
      expect(duplicatesAmong([...before, ...service.accepted]), `cut at byte ${cut}`).toEqual([]);
      const { balance, exitCode } = await reportOf(run);
      const known = new Set([...before, ...service.accepted]);
      expect(balance).toMatchObject({ read: 9, skipped: 0, unprocessed: 0 });
      // Every row that no report names in doubt was accepted, save the bad one.
      expect(balance.accepted + balance.rejected + balance.inDoubt).toBe(9);
      expect(known.size).toBeGreaterThanOrEqual(balance.accepted);
      if (balance.inDoubt === 0)
        expect({ balance, exitCode }).toMatchObject({ balance: { accepted: 8, rejected: 1 }, exitCode: 1 });
    }
  });

  it('puts in doubt exactly the rows of the request that was in flight', async () => {
    const { made, journal } = await aFinishedRun();
    const firstIntent = linesOf(journal).findIndex((line) => line.includes('"type":"intent"'));
    cutJournal(made, firstIntent + 1);
    const service = aScriptedService();
    await aRun({ made, service, epoch: 2 });
    expect(service.sent.flatMap(({ rows }) => rows).sort()).toEqual([3, 4, 5, 6, 7, 8]);
    expect((await reportOf(made)).balance).toMatchObject({ accepted: 6, inDoubt: 3 });
  });

  it('that had finished sends nothing and leaves its journal as it is', async () => {
    const { made, journal } = await aFinishedRun();
    const service = aScriptedService();
    expect((await aRun({ made, service, epoch: 2 })).end).toEqual({ reason: 'finished', detail: '' });
    expect(service.sent).toEqual([]);
    expect(journalOf(made)).toBe(journal);
  });

  it('sends a contact again that was in flight: a repeated create merges', async () => {
    const made = await aPlan({ job: { steps: [aContactsStep({ limits: someLimits({ concurrency: 1 }) })] } });
    await aRun({ made });
    cutJournal(made, 2);
    const service = aScriptedService();
    await aRun({ made, service, epoch: 2 });
    expect(service.sent).toHaveLength(3);
    expect((await reportOf(made)).balance).toMatchObject({ accepted: 3, inDoubt: 0 });
  });

  it('refuses a journal of another plan', async () => {
    const { made } = await aFinishedRun();
    const other = { ...made, plan: { ...made.plan, id: 'another' } };
    await expect(aRun({ made: other, epoch: 2 })).rejects.toMatchObject({ code: 'journal-damaged' });
  });

  it('refuses a journal of a later version', async () => {
    const { made, journal } = await aFinishedRun();
    const [first = ''] = linesOf(journal);
    const line = decodeLine(Buffer.from(first));
    if (line?.entry.type !== 'open') throw new Error('A journal begins with an open entry');
    const later = encodeLine({ ...line, entry: { ...line.entry, version: line.entry.version + 1 } });
    writeJournal(made, [later.toString().trimEnd()]);
    await expect(aRun({ made, epoch: 2 })).rejects.toMatchObject({ code: 'bad-plan' });
  });

  it('resumes where it stopped, also where its lock file was deleted: the epochs of its journal never go back', async () => {
    const made = await aPlanOfBatches(12);
    const accepted: string[] = [];
    for (const epoch of [1, 2, 1, 2]) {
      const stop = new StopSwitch();
      const service = aScriptedService((_sent, count) => {
        if (count === 2) stop.request('interrupted', 'SIGTERM');
        return undefined;
      });
      await aRun({ made, stop, service, epoch });
      accepted.push(...service.accepted);
    }
    const { balance, state } = await reportOf(made);
    expect(duplicatesAmong(accepted)).toEqual([]);
    expect(accepted).toHaveLength(12);
    expect(state).toBe('finished');
    expect(balance).toMatchObject({ accepted: 12, unprocessed: 0 });
  });
});
