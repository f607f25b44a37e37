import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeLine, type JournalEntry, type SnapshotEntry } from '../../src/journal/entry-format.js';
import { type JournalEnd, readJournal, readRunState } from '../../src/journal/reader.js';
import { RunState } from '../../src/journal/replay.js';
import { continueJournal, type JournalWriter } from '../../src/journal/writer.js';
import type { Files } from '../../src/storage/files.js';
import { runsOf } from '../one-in.js';
import { aLine, aLock, anIntent, anOpen, anOutcome, aSettlement, JOURNAL_PATH, memoryFiles } from './builders.js';

/** A runner that continues the journal. */
async function aRunner(files: Files, lockEpoch = 1): Promise<JournalWriter> {
  const { state, end } = await readRunState(files, JOURNAL_PATH);
  const writer = await continueJournal(files, JOURNAL_PATH, { end, ...aLock(lockEpoch), state });
  await writer.append(anOpen({ pid: lockEpoch }));
  return writer;
}

async function settle(writer: JournalWriter, ...requests: readonly number[]): Promise<void> {
  for (const request of requests) {
    await writer.append(anIntent({ request, rows: [request * 10, 10], line: [request * 100, 100] }));
    await writer.append(anOutcome({ request, result: aSettlement(10, 1) }));
  }
}

/** As all lines tell it. */
async function replay(files: Files): Promise<{ state: RunState; end: JournalEnd }> {
  const state = new RunState();
  const end = await readJournal(files, JOURNAL_PATH, ({ entry }) => state.apply(entry));
  return { state, end };
}

async function rewrite(files: Files, change: (text: string) => string): Promise<void> {
  await files.writeWhole(JOURNAL_PATH, change((await files.readText(JOURNAL_PATH)) ?? ''));
}

/** So that who reads all lines refuses the journal. */
const damageFirstLine = (text: string) => text.replace('"host":"h"', '"host":"x"');
const DAMAGED = { code: 'journal-damaged' };

const snapshotsIn = async (files: Files) =>
  ((await files.readText(JOURNAL_PATH)) ?? '').split('\n').flatMap((line): SnapshotEntry[] => {
    const entry = decodeLine(Buffer.from(line))?.entry;
    return entry?.type === 'snapshot' ? [entry] : [];
  });

describe('the state of a run', () => {
  it('is nothing where there is no journal', async () => {
    const { state, end } = await readRunState(memoryFiles(), JOURNAL_PATH);
    expect(state.steps.size).toBe(0);
    expect(end).toEqual({ goodBytes: 0, tornBytes: 0, lastSeq: 0, lastEpoch: 0 });
  });

  it('is read from the last snapshot on, and no line before it', async () => {
    const files = memoryFiles();
    const writer = await aRunner(files);
    await settle(writer, 1, 2, 3);
    await writer.append(anIntent({ request: 4 }));
    const whole = await replay(files);
    await rewrite(files, damageFirstLine);

    const { state, end } = await readRunState(files, JOURNAL_PATH);

    await expect(replay(files)).rejects.toMatchObject(DAMAGED);
    expect(state).toEqual(whole.state);
    expect(end).toEqual(whole.end);
    expect(state.step(1)).toMatchObject({ nextRequest: 5, settledRows: { accepted: 27, rejected: 3 } });
    expect(state.isInFlight).toBe(true);
  });

  it('is what all lines say, whatever they say, whichever runner resumes, and wherever one is torn', async () => {
    const anEntry = fc.tuple(fc.constantFrom('begin', 'end', 'again', 'split', 'prepare', 'close'), fc.nat({ max: 5 }));
    const aLife = fc.record({ entries: fc.array(anEntry, { maxLength: 12 }), torn: fc.nat({ max: 90 }) });
    const property = fc.asyncProperty(fc.array(aLife, { minLength: 1, maxLength: 4 }), async (lives) => {
      const files = memoryFiles();
      for (const [index, { entries, torn }] of lives.entries()) {
        const writer = await aRunner(files, index + 1);
        for (const [what, request] of entries) await writer.append(entryOf(what, request));
        const file = await files.openAppend(JOURNAL_PATH);
        // A line that was under way when its process died.
        await file.append(aLine({ seq: 1000, epoch: index + 1, durable: 0 }).subarray(0, torn));
        const whole = await replay(files);
        const { state, end } = await readRunState(files, JOURNAL_PATH);
        expect(JSON.stringify(state.snapshot())).toBe(JSON.stringify(whole.state.snapshot()));
        expect(end).toEqual(whole.end);
      }
    });
    await fc.assert(property, { numRuns: runsOf(150) });
  });

  it('is read from all lines where another appended one before the snapshot', async () => {
    const files = memoryFiles();
    const writer = await aRunner(files, 2);
    expect(await snapshotsIn(files)).toEqual([]);
    const file = await files.openAppend(JOURNAL_PATH);
    await file.append(aLine({ seq: 2, epoch: 1, entry: anIntent({ request: 99 }) }));
    await settle(writer, 1, 2, 3, 4, 5);
    expect(await snapshotsIn(files)).not.toEqual([]);
    await rewrite(files, damageFirstLine);
    await expect(readRunState(files, JOURNAL_PATH)).rejects.toMatchObject(DAMAGED);
  });

  it('is read from an earlier snapshot where the last is of a runner that the next one did not read any more', async () => {
    const files = memoryFiles();
    const ousted = await aRunner(files);
    await settle(ousted, 1, 2);
    const { state, end } = await readRunState(files, JOURNAL_PATH);
    await settle(ousted, 3, 4);
    const next = await continueJournal(files, JOURNAL_PATH, { end, ...aLock(2), state });
    await next.append(anOpen({ pid: 2 }));
    await next.append(anIntent({ request: 3, rows: [30, 10] }));

    const read = await readRunState(files, JOURNAL_PATH);

    const whole = await replay(files);
    expect(read.state.snapshot()).toEqual(whole.state.snapshot());
    expect(read.state.step(1)).toMatchObject({ nextRequest: 4 });
    await rewrite(files, damageFirstLine);
    await expect(readRunState(files, JOURNAL_PATH)).resolves.toMatchObject({ end: whole.end });
  });

  it.each([
    { strange: 'of another version', moved: 0, state: { ...new RunState().snapshot(), version: 0 } },
    { strange: 'that stands where it was not written', moved: 1, state: new RunState().snapshot() },
  ])('is read from all lines where there is only a snapshot $strange', async ({ moved, state: told }) => {
    const lines = [aLine({ seq: 1, entry: anOpen() }), aLine({ seq: 2, entry: anIntent() })];
    const offset = Buffer.concat(lines).length + moved;
    lines.push(aLine({ seq: 3, entry: { type: 'snapshot', offset, state: told } }));
    const files = memoryFiles({ [JOURNAL_PATH]: Buffer.concat(lines) });
    const { state } = await readRunState(files, JOURNAL_PATH);
    expect(state.step(1)).toMatchObject({ nextRequest: 2 });
    expect(state.isInFlight).toBe(true);
  });
});

describe('a snapshot', () => {
  it('is written once the journal is longer by a quarter, and never before the line that opens it', async () => {
    const files = memoryFiles();
    const writer = await aRunner(files);
    await settle(writer, ...Array.from({ length: 40 }, (_, index) => index + 1));
    const offsets = (await snapshotsIn(files)).map(({ offset }) => offset);
    const written = (await files.readText(JOURNAL_PATH))?.length ?? 0;
    for (const [index, offset] of [...offsets, written].entries()) {
      const least = 1.25 * (offsets[index - 1] ?? 0);
      if (offset !== written) expect(offset).toBeGreaterThan(least);
      // Behind the snapshot, and with the group of lines before it.
      expect(offset).toBeLessThan(least + 3000);
    }
    const next = await aRunner(files, 2);
    await settle(next, 21);
    const types = ((await files.readText(JOURNAL_PATH)) ?? '').split('\n').map((line) => decodeLine(Buffer.from(line)));
    expect(types.find((line) => line?.epoch === 2)?.entry.type).toBe('open');
  });

  it('changes no more once it is taken', async () => {
    const state = new RunState();
    for (const entry of [anOpen(), anIntent(), anIntent({ request: 3 })]) state.apply(entry);
    const taken = state.snapshot();
    const text = JSON.stringify(taken);
    for (const entry of [anOutcome(), anIntent({ request: 2 }), anOutcome({ request: 3 })]) state.apply(entry);
    expect(JSON.stringify(taken)).toBe(text);
  });
});

function entryOf(what: string, request: number): JournalEntry {
  const key = { request: request + 1, part: '' };
  if (what === 'begin') return anIntent({ ...key, rows: [request * 10, 10], line: [request * 100, 100] });
  if (what === 'end') return anOutcome({ ...key, result: aSettlement(10, request) });
  if (what === 'again' || what === 'split') return anOutcome({ ...key, result: { kind: what, why: '' } });
  if (what === 'prepare') return { type: 'prepared', step: 2, at: 1000, ids: [`id-${request}`] };
  return { type: 'close', at: 1000, reason: 'interrupted', detail: '' };
}
