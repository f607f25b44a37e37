import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../src/journal/entry-format.js';
import { createJournalWindow, type PlacedLine, readJournal } from '../../src/journal/reader.js';
import { continueJournal } from '../../src/journal/writer.js';
import { aLine, aLock, anIntent, anOpen, JOURNAL_PATH, memoryFiles, readBytes, someLines } from './builders.js';

const lengthOf = (lines: readonly Buffer[]) => Buffer.concat(lines).length;

describe('reader', () => {
  test('gives an empty end where there is no journal, and where it is empty', async () => {
    const none = { goodBytes: 0, tornBytes: 0, lastSeq: 0, lastEpoch: 0 };
    expect(await readJournal(memoryFiles(), JOURNAL_PATH, () => {})).toEqual(none);
    expect((await readBytes()).end).toEqual(none);
  });

  test('gives every line in order, each with the place where it can be read again', async () => {
    const lines = someLines(5);
    const { end, seqs, lines: read } = await readBytes(...lines);
    expect(seqs).toEqual([1, 2, 3, 4, 5]);
    expect(end).toEqual({ goodBytes: lengthOf(lines), tornBytes: 0, lastSeq: 5, lastEpoch: 1 });
    const window = createJournalWindow(memoryFiles({ [JOURNAL_PATH]: Buffer.concat(lines) }), JOURNAL_PATH);
    for (const { offset, entry } of read) expect(await window.readEntry(offset)).toEqual(entry);
  });

  test('refuses to read a line again at a place where none begins', async () => {
    const [line] = someLines(1);
    const window = createJournalWindow(memoryFiles({ [JOURNAL_PATH]: line! }), JOURNAL_PATH);
    await expect(window.readEntry(1)).rejects.toMatchObject({ code: 'journal-damaged' });
  });

  test('reads lines over the borders of the pieces that it reads, however long they are', async () => {
    const texts = [1, 1 << 20, 10, (1 << 21) + 3, (1 << 20) - 200, 50, 500];
    const lines = texts.map((length, index) =>
      aLine({ seq: index + 1, entry: anOpen({ host: String(index).repeat(length) }) }),
    );
    const { end, lines: read } = await readBytes(...lines);
    expect(read.map(({ entry }) => entry.type === 'open' && entry.host.length)).toEqual(texts);
    expect(read.map(({ offset }) => offset)).toEqual(lines.map((_, at) => lengthOf(lines.slice(0, at))));
    expect(end.goodBytes).toBe(lengthOf(lines));
  });
});

describe('runner that resumes behind a torn tail', () => {
  test('is read, whatever was torn, and what was torn stays out', async () => {
    const lines = someLines(3, () => 0);
    const last = lines[2]!;
    for (let length = 1; length < last.length; length++) {
      const files = memoryFiles({ [JOURNAL_PATH]: Buffer.concat([...lines.slice(0, 2), last.subarray(0, length)]) });
      const end = await readJournal(files, JOURNAL_PATH, () => {});
      const writer = await continueJournal(files, JOURNAL_PATH, { end, ...aLock(2) });
      await writer.append(anOpen({ pid: 8 }));
      await writer.append(anIntent({ request: 5 }));
      await writer.close();

      const found: JournalEntry[] = [];
      const after = await readJournal(files, JOURNAL_PATH, ({ entry }) => found.push(entry));

      expect(found.slice(2)).toEqual([anOpen({ pid: 8 }), anIntent({ request: 5 })]);
      expect(after).toMatchObject({ tornBytes: 0, lastSeq: 4, lastEpoch: 2 });
    }
  });

  test('does not hide damage: one that built upon what cannot be read any more refuses the journal', async () => {
    const [first, second] = someLines(2);
    const open = aLine({ epoch: 2, seq: 3, durable: 2, entry: anOpen() });
    await expect(readBytes(first!, Buffer.from('damaged\n'), open)).rejects.toMatchObject({ code: 'journal-damaged' });
    await expect(readBytes(first!, second!, open)).resolves.toMatchObject({ seqs: [1, 2, 3] });
  });
});

test('a journal whose good lines end before what was noted of them is damaged, however long it is', async () => {
  const lines = someLines(3);
  const [kept, bytes] = [lengthOf(lines.slice(0, 2)), lengthOf(lines)];
  const files = memoryFiles({ [JOURNAL_PATH]: Buffer.concat([...lines.slice(0, 2), Buffer.alloc(bytes - kept)]) });
  const end = await readJournal(files, JOURNAL_PATH, () => {});
  const { plan, lock } = aLock(2);
  const known = () => bytes;
  await expect(continueJournal(files, JOURNAL_PATH, { end, plan, lock: { ...lock, known } })).rejects.toMatchObject({
    code: 'journal-damaged',
    message: expect.stringContaining(`its last good line ends at byte ${kept}, and one ended at ${bytes}`),
  });
});

describe('line of a runner that lost its lock, cut in the middle of its write while its successor is at work', () => {
  test.each([
    ['before the successor opens the journal', 0],
    ['between two lines of the successor', 1],
    ['before the last line of the successor', 3],
  ])('%s: every line of the successor counts, and is read again at its place', async (_, linesBefore) => {
    const ousted = aLine({ seq: 4, durable: 3, entry: anIntent({ request: 9 }) });
    for (let length = 1; length < ousted.length; length++) {
      const files = memoryFiles({ [JOURNAL_PATH]: Buffer.concat(someLines(3)) });
      const end = await readJournal(files, JOURNAL_PATH, () => {});
      const late = await files.openAppend(JOURNAL_PATH);
      const writer = await continueJournal(files, JOURNAL_PATH, { end, ...aLock(2) });
      const entries = [anOpen({ pid: 8 }), ...[5, 6, 7].map((request) => anIntent({ request }))];
      for (const [at, entry] of entries.entries()) {
        if (at === linesBefore) await late.append(ousted.subarray(0, length));
        await writer.append(entry);
      }
      await writer.close();

      const found: PlacedLine[] = [];
      const after = await readJournal(files, JOURNAL_PATH, (line) => found.push(line));

      expect(found.slice(3).map(({ entry }) => entry)).toEqual(entries);
      expect(after).toMatchObject({ tornBytes: 0, lastSeq: 7, lastEpoch: 2 });
      const window = createJournalWindow(files, JOURNAL_PATH);
      for (const { offset, entry } of found) expect(await window.readEntry(offset)).toEqual(entry);
    }
  });

  test('hides no damage: a lost newline between two lines that count refuses the journal', async () => {
    const lines = someLines(4);
    lines[1] = lines[1]!.subarray(0, -1);
    await expect(readBytes(...lines)).rejects.toMatchObject({ code: 'journal-damaged' });
  });
});

describe('reader passes over a tail', () => {
  test.each([
    [0, { lastSeq: 0, lastEpoch: 0 }],
    [2, { lastSeq: 2, lastEpoch: 1 }],
  ])('that is a line torn at any byte, behind %i others', async (count, last) => {
    const lines = someLines(count + 1, () => 0);
    const torn = lines.pop()!;
    for (let length = 0; length < torn.length; length++) {
      const { end, seqs } = await readBytes(...lines, torn.subarray(0, length));
      expect(seqs).toHaveLength(count);
      expect(end).toEqual({ goodBytes: lengthOf(lines), tornBytes: length, ...last });
    }
  });

  test.each([
    ['zeros, as a file system leaves them after a power cut', Buffer.alloc(5000)],
    ['JSON that is no journal line', '{"type":"close"}\n'],
    ['a line whose seq leaves a gap, with nothing known to be durable', aLine({ seq: 9, durable: 2 })],
  ])('that is %s', async (_, tail) => {
    const lines = someLines(2);
    const { end, seqs } = await readBytes(...lines, tail);
    expect(seqs).toEqual([1, 2]);
    expect(end).toEqual({ goodBytes: lengthOf(lines), tornBytes: tail.length, lastSeq: 2, lastEpoch: 1 });
  });

  test('that is any bytes at all', async () => {
    const lines = someLines(3);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (noise) => {
        const { end, seqs } = await readBytes(...lines, Buffer.from(noise));
        expect(seqs).toEqual([1, 2, 3]);
        expect(end).toMatchObject({ goodBytes: lengthOf(lines), tornBytes: noise.length });
      }),
    );
  });

  test('that is several megabytes without a newline', async () => {
    const lines = someLines(2);
    const { end, seqs } = await readBytes(...lines, Buffer.alloc(3_500_000, 'x'));
    expect(seqs).toEqual([1, 2]);
    expect(end).toMatchObject({ goodBytes: lengthOf(lines), tornBytes: 3_500_000 });
  });

  test('that begins with damage in a group of lines which no later line builds upon', async () => {
    const lines = someLines(5, (seq) => Math.min(seq - 1, 2));
    lines[3]!.write('#', 40);
    const { end, seqs } = await readBytes(...lines);
    expect(seqs).toEqual([1, 2, 3]);
    expect(end).toMatchObject({ goodBytes: lengthOf(lines.slice(0, 3)), tornBytes: lengthOf(lines.slice(3)) });
  });

  test('that is a last group whose lines reached the disk in another order, or not all', async () => {
    const [first, second, third, fourth] = someLines(4, () => 1);
    expect((await readBytes(first!, second!, fourth!, third!)).seqs).toEqual([1, 2]);
    expect((await readBytes(first!, third!, fourth!)).seqs).toEqual([1]);
  });
});

/** The refusal names the file and the byte at which the damage begins. */
const damagedAt = (offset: number) => ({
  code: 'journal-damaged',
  message: expect.stringContaining(`${JOURNAL_PATH}: the line at byte ${offset} is damaged`),
});

describe('reader refuses, with the place, a journal', () => {
  test('with any one bit flipped in a line that later lines build upon', async () => {
    const lines = someLines(4);
    const place = lines[0]!.length;
    for (let byte = 0; byte < lines[1]!.length; byte++) {
      const damaged = Buffer.from(lines[1]!);
      damaged[byte]! ^= 1 << (byte & 7);
      await expect(readBytes(lines[0]!, damaged, ...lines.slice(2))).rejects.toMatchObject(damagedAt(place));
    }
  });

  test('that lost a line in the middle, or any piece of one', async () => {
    const [first, second, third, fourth] = someLines(4);
    await expect(readBytes(first!, third!, fourth!)).rejects.toMatchObject(damagedAt(first!.length));
    for (const length of [1, 20, second!.length - 1]) {
      await expect(readBytes(first!, second!.subarray(0, length), third!, fourth!)).rejects.toMatchObject(
        damagedAt(first!.length),
      );
    }
  });

  test('with two lines swapped', async () => {
    const [first, second, third, fourth] = someLines(4);
    await expect(readBytes(first!, third!, second!, fourth!)).rejects.toMatchObject(damagedAt(first!.length));
  });

  test('with a line doubled, or something put between two lines', async () => {
    const [first, second, third] = someLines(3);
    const place = first!.length + second!.length;
    await expect(readBytes(first!, second!, second!, third!, aLine({ seq: 4 }))).rejects.toMatchObject(
      damagedAt(place),
    );
    await expect(readBytes(first!, second!, '\n', third!, aLine({ seq: 4 }))).rejects.toMatchObject(damagedAt(place));
  });

  test('that lost its first lines', async () => {
    await expect(readBytes(...someLines(3).slice(1))).rejects.toMatchObject(damagedAt(0));
  });

  test('with damage that stands many lines before the one which builds upon it', async () => {
    const lines = someLines(40, (seq) => (seq === 40 ? 1 : 0));
    lines[0]!.write('#', 30);
    await expect(readBytes(...lines)).rejects.toMatchObject(damagedAt(0));
  });
});

describe('reader passes over the lines of an ousted runner', () => {
  // Else a contact that the old one still reported, and the new one sent again, would count twice.
  test.each([
    [
      'behind those of the newer epoch',
      [
        aLine({ epoch: 2, seq: 3, entry: anOpen() }),
        aLine({ epoch: 1, seq: 3 }),
        aLine({ epoch: 2, seq: 4 }),
        aLine({ epoch: 1, seq: 4 }),
      ],
    ],
    [
      'that it wrote between the new runner’s look at the journal and its open',
      [
        aLine({ epoch: 1, seq: 3 }),
        aLine({ epoch: 1, seq: 4 }),
        aLine({ epoch: 2, seq: 3, durable: 2, entry: anOpen() }),
        aLine({ epoch: 2, seq: 4 }),
      ],
    ],
  ])('%s', async (_, more) => {
    const lines = [...someLines(2), ...more];
    const { end, lines: read } = await readBytes(...lines);
    expect(read.map(({ epoch, seq }) => `${epoch}/${seq}`)).toEqual(['1/1', '1/2', '2/3', '2/4']);
    expect(end).toEqual({ goodBytes: lengthOf(lines), tornBytes: 0, lastSeq: 4, lastEpoch: 2 });
  });

  test('but not over a newer line that counts on from elsewhere and is no open', async () => {
    const [first, second, third] = someLines(3);
    const tail = [aLine({ epoch: 2, seq: 3, durable: 2 }), aLine({ epoch: 2, seq: 4 })];
    await expect(readBytes(first!, second!, third!, ...tail)).resolves.toMatchObject({ seqs: [1, 2, 3] });
    await expect(readBytes(first!, second!, third!, ...tail, aLine({ epoch: 2, seq: 5 }))).rejects.toMatchObject(
      damagedAt(lengthOf([first!, second!, third!])),
    );
  });

  test('but not over an open that leaves a gap', async () => {
    const [first] = someLines(1);
    await expect(readBytes(first!, aLine({ epoch: 2, seq: 5, entry: anOpen() }))).rejects.toMatchObject(
      damagedAt(first!.length),
    );
  });
});
