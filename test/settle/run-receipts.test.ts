import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRunReceipts } from '../../src/settle/run-receipts.js';
import { eventsIn } from '../listen/a-listener.js';
import { anEventLine, aReceipt } from '../listen/events.js';
import { FakeClock } from '../run/fake-clock.js';
import { aMemoryDisk, type MemoryDisk } from '../storage/a-memory-disk.js';

const RUN = 'k3v9q2m8x4aa';
const DIRECTORY = `/out/sale/${RUN}`;
const FILE = join(DIRECTORY, 'receipts.ndjson');

/** The receipts of one run, and how often it was looked for. */
async function someReceipts() {
  const disk = aMemoryDisk({ [join(DIRECTORY, 'plan.json')]: '{}' });
  const clock = new FakeClock();
  const looked: string[] = [];
  const said: string[] = [];
  const say = (message: string) => void said.push(message);
  const found = { isThere: true };
  const receipts = createRunReceipts(
    { files: disk.files, clock, log: { info: say, warn: say, error: say } },
    {
      findRun: async (run) => {
        looked.push(run);
        return found.isThere ? { run, directory: DIRECTORY } : undefined;
      },
      onWritten: () => {},
    },
  );
  const add = (state: string, run = RUN) => {
    const messageId = `${run}-1-0`;
    const line = anEventLine(aReceipt({ payload: { clientMessageId: messageId }, status: { state } }), state);
    return receipts.add({ kind: 'receipt', id: `event:${state}`, line: Buffer.from(line), messageId }, async () => {});
  };
  const states = () => eventsIn(disk.readText(FILE)).map(({ event }) => Object(event.payload).status.state);
  return { disk, clock, looked, found, receipts, add, states, said };
}

test('a receipt is written once to the file of its run, also behind a pause in which that was closed', async () => {
  const { clock, looked, receipts, add, states } = await someReceipts();
  expect(await Promise.all([add('sent'), add('sent'), add('delivered')])).toEqual(['written', 'duplicate', 'written']);
  clock.jump({ wallMs: 0, steadyMs: 599_999 });
  await receipts.closeIdle();
  expect(await add('sent')).toBe('duplicate');
  expect(looked).toEqual([RUN]);
  clock.jump({ wallMs: 0, steadyMs: 600_000 });
  await receipts.closeIdle();
  expect(await add('sent')).toBe('duplicate');
  clock.jump({ wallMs: 0, steadyMs: 600_000 });
  expect((await Promise.all([add('read'), receipts.closeIdle()]))[0]).toBe('written');
  // It is open still.
  expect(await add('read')).toBe('duplicate');
  expect(looked).toEqual([RUN, RUN]);
  expect(states()).toEqual(['sent', 'delivered', 'read']);
});

test('a run that was not found is looked for again a minute later', async () => {
  const { clock, looked, found, add } = await someReceipts();
  found.isThere = false;
  expect(await Promise.all([add('sent'), add('sent')])).toEqual([undefined, undefined]);
  clock.jump({ wallMs: 0, steadyMs: 59_999 });
  found.isThere = true;
  expect(await add('sent')).toBe(undefined);
  expect(looked).toEqual([RUN]);
  clock.jump({ wallMs: 0, steadyMs: 1 });
  expect(await add('sent')).toBe('written');
});

test('a pruned run gets no number back by a late receipt, which is for other events', async () => {
  const { disk, add } = await someReceipts();
  expect(await add('sent')).toBe('written');
  for (const name of ['plan.json', 'receipts.ndjson']) await disk.files.remove(join(DIRECTORY, name));
  expect(await add('delivered')).toBe(undefined);
  expect(await disk.files.list(DIRECTORY)).toEqual([]);
});

test.each([
  ['cannot be written to', (disk: MemoryDisk) => disk.failAt(4)],
  ['holds other lines than events', (disk: MemoryDisk) => disk.files.writeWhole(FILE, 'name,mobile\n')],
])('a run whose file %s stops no other: its receipts are for other events, and it says so', async (_, spoil) => {
  const { disk, add, clock, receipts, said } = await someReceipts();
  expect(await add('sent')).toBe('written');
  clock.jump({ wallMs: 0, steadyMs: 600_000 });
  await receipts.closeIdle();
  await spoil(disk);
  expect(await add('delivered')).toBe(undefined);
  expect(said).toEqual([expect.stringContaining(`receipts of run ${RUN} go to the other events: `)]);
  await receipts.close();
});
