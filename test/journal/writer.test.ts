import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeLine } from '../../src/journal/entry-format.js';
import { readJournal } from '../../src/journal/reader.js';
import { createJournalWriter } from '../../src/journal/writer.js';
import type { AppendFile } from '../../src/storage/files.js';
import { runsOf } from '../one-in.js';
import { anIntent, JOURNAL_PATH, memoryFiles } from './builders.js';

function aSignal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A disk that notes what is asked of it, and syncs when the test says so. */
class SlowDisk implements AppendFile {
  readonly trace: string[] = [];
  readonly written: Buffer[] = [];
  readonly inode = 1;
  bytes = 0;
  failAppend: Error | undefined;
  failSync: Error | undefined;
  #syncing = aSignal();
  #asked = aSignal();

  async append(chunk: Uint8Array): Promise<void> {
    const lines = Buffer.from(chunk).toString().trimEnd().split('\n');
    const requests = lines.map((line) => JSON.parse(line).request);
    this.trace.push(`append ${requests.join(' ')}`);
    if (this.failAppend !== undefined) throw this.failAppend;
    this.written.push(Buffer.from(chunk));
    this.bytes += chunk.length;
  }

  async sync(): Promise<void> {
    this.trace.push('sync');
    this.#asked.resolve();
    await this.#syncing.promise;
    if (this.failSync !== undefined) throw this.failSync;
    this.trace.push('synced');
  }

  /** Lets the sync that is under way, or comes next, end. */
  async endSync(): Promise<void> {
    await this.#asked.promise;
    const { resolve } = this.#syncing;
    this.#syncing = aSignal();
    this.#asked = aSignal();
    resolve();
  }

  async syncAsked(): Promise<void> {
    await this.#asked.promise;
  }

  async truncate(): Promise<void> {}

  async close(): Promise<void> {
    this.trace.push('close');
  }
}

function aWriter(disk: AppendFile, start = { epoch: 1, seq: 0, offset: 0 }) {
  const writer = createJournalWriter(disk, start);
  const trace = disk instanceof SlowDisk ? disk.trace : [];
  const append = (request: number) =>
    writer.append(anIntent({ request })).then(
      () => void trace.push(`durable ${request}`),
      (error: Error) => void trace.push(`refused ${request}: ${error.message}`),
    );
  return { writer, append };
}

test('appends that are made while a sync is under way share the next one', async () => {
  const disk = new SlowDisk();
  const { append } = aWriter(disk);
  const first = append(1);
  await disk.syncAsked();
  const others = [append(2), append(3), append(4)];
  await disk.endSync();
  await first;
  expect(disk.trace).not.toContain('durable 2');
  await disk.endSync();
  await Promise.all(others);
  const calls = disk.trace.filter((call) => call !== 'durable 1');
  expect(calls).toEqual([
    ...['append 1', 'sync', 'synced'],
    ...['append 2 3 4', 'sync', 'synced', 'durable 2', 'durable 3', 'durable 4'],
  ]);
});

test('each line counts on, and names every line that was synced before it was written', async () => {
  const disk = new SlowDisk();
  const { append } = aWriter(disk, { epoch: 3, seq: 40, offset: 0 });
  const first = [append(1), append(2)];
  await disk.syncAsked();
  // Made before 41 and 42 are durable, but written after.
  const second = [append(3), append(4)];
  await disk.endSync();
  await disk.endSync();
  await Promise.all([...first, ...second]);
  const lines = Buffer.concat(disk.written).toString().trimEnd().split('\n');
  expect(lines.map((line) => decodeLine(Buffer.from(line)))).toMatchObject([
    { epoch: 3, seq: 41, durable: 40 },
    { epoch: 3, seq: 42, durable: 40 },
    { epoch: 3, seq: 43, durable: 42 },
    { epoch: 3, seq: 44, durable: 42 },
  ]);
});

test.each([
  ['write', 'failAppend'],
  ['sync', 'failSync'],
] as const)(
  'the first failure of a %s is final: all that waits is refused, and the disk is not asked again',
  async (_, kind) => {
    const disk = new SlowDisk();
    const { writer, append } = aWriter(disk);
    const first = append(1);
    await disk.syncAsked();
    const others = [append(2), append(3)];
    if (kind === 'failAppend') disk.failAppend = new Error('ENOSPC: no space left');
    else disk.failSync = new Error('EIO: i/o error');
    await disk.endSync();
    await Promise.all([first, ...others]);
    const asked = disk.trace.filter((call) => /^(append|sync)\b/.test(call));
    expect(asked).toEqual(kind === 'failAppend' ? ['append 1', 'sync', 'append 2 3'] : ['append 1', 'sync']);
    const refused = kind === 'failAppend' ? [2, 3] : [1, 2, 3];
    const said = kind === 'failAppend' ? 'ENOSPC: no space left' : 'EIO: i/o error';
    expect(disk.trace.filter((call) => call.startsWith('refused'))).toEqual(
      refused.map((request) => `refused ${request}: Cannot write the journal: ${said}`),
    );

    disk.failAppend = undefined;
    disk.failSync = undefined;
    const calls = disk.trace.length;
    await expect(writer.append(anIntent())).rejects.toMatchObject({ name: 'InternalError', code: 'write-failed' });
    expect(disk.trace.slice(calls)).toEqual([]);
  },
);

test('close waits for what is under way, and refuses what comes after', async () => {
  const disk = new SlowDisk();
  const { writer, append } = aWriter(disk);
  const first = append(1);
  const closed = writer.close();
  await disk.endSync();
  await Promise.all([first, closed]);
  expect(disk.trace).toEqual(['append 1', 'sync', 'synced', 'durable 1', 'close']);
  await expect(writer.append(anIntent())).rejects.toMatchObject({ code: 'write-failed' });
  expect(disk.trace.at(-1)).toBe('close');
});

test('after a power cut at any byte that was not synced, all that was durable is read, in order', async () => {
  const step = fc.record({ appends: fc.integer({ min: 1, max: 4 }), awaits: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), fc.nat(), async (steps, cut) => {
      const files = memoryFiles();
      const file = await files.openAppend(JOURNAL_PATH);
      let syncedBytes = 0;
      const disk: AppendFile = {
        ...file,
        bytes: 0,
        sync: async () => {
          await file.sync();
          syncedBytes = file.bytes;
        },
      };
      const writer = createJournalWriter(disk, { epoch: 1, seq: 0, offset: 0 });
      let made = 0;
      let durable = 0;
      let pending: Promise<unknown> = Promise.resolve();
      for (const { appends, awaits } of steps) {
        for (let count = 0; count < appends; count++) {
          made += 1;
          const request = made;
          const one = writer.append(anIntent({ request })).then(() => {
            expect(syncedBytes).toBeGreaterThan(0);
            durable = Math.max(durable, request);
          });
          pending = Promise.all([pending, one]);
        }
        if (awaits) await pending;
      }
      // The cut comes here, with whatever is under way.
      const [durableThen, syncedThen] = [durable, syncedBytes];
      await pending;
      const bytes = file.bytes;
      await file.truncate(syncedThen + (cut % (bytes - syncedThen + 1)));
      const read: number[] = [];
      await readJournal(files, JOURNAL_PATH, ({ entry }) => entry.type === 'intent' && read.push(entry.request));
      expect(read).toEqual(Array.from({ length: read.length }, (_, index) => index + 1));
      expect(read.length).toBeGreaterThanOrEqual(durableThen);
    }),
    { numRuns: runsOf(60) },
  );
});
