import { describe, expect, test } from 'vitest';
import { OPT_OUT_HEADER } from '../../src/domain/opt-out-line.js';
import { createWordReader, OPT_OUT_WORDS, openOptOutFile, takeOptOuts } from '../../src/listen/opt-outs.js';
import { FakeClock } from '../run/fake-clock.js';
import { aMemoryDisk, type MemoryDisk } from '../storage/a-memory-disk.js';
import { aListener } from './a-listener.js';

const LIST = '/lists/opt-outs.csv';
const T0 = Date.parse('2026-11-26T09:00:00Z');

/** As the service posts an SMS that a person sent; `afterS`: when, in seconds. */
function anSms(text: string, { from = '+6591234567', umid = `u-${text}`, afterS = 0 } = {}) {
  const timestamp = new Date(T0 + afterS * 1000).toISOString();
  const payload = { umid, subAccountId: 'acme_hq', timestamp, source: from, destination: '+6598765432', body: text };
  return { namespace: 'SMS', eventType: 'inbound_message_received', description: 'Inbound SMS', payload };
}

async function aTaker(disk: MemoryDisk = aMemoryDisk(), files = disk.files) {
  const warned: string[] = [];
  const log = { info: () => {}, warn: (text: string) => void warned.push(text), error: () => {} };
  const deps = { files, clock: new FakeClock(), log };
  const taking = await takeOptOuts({ optOuts: LIST, words: undefined, inWords: ['START'] }, deps);
  if (taking === undefined) throw new Error('No one is taken down');
  const listener = await aListener({ disk, onArrived: taking.onArrived });
  const lines = () => disk.readText(LIST).slice(OPT_OUT_HEADER.length).split('\n').slice(0, -1);
  return { ...listener, taking, lines, warned };
}

describe('words', () => {
  const read = createWordReader({ out: OPT_OUT_WORDS, in: ['START', 'JA'] });
  test.each([
    ...[
      'STOP',
      'stop',
      ' Stop! ',
      '"stop".',
      'S T O P',
      'ＳＴＯＰ',
      'arrêt',
      'ARRE\u0302T',
      'ยกเลิก',
      '退订。',
      'unsubscribe\n',
    ].map((text) => [text, 'out']),
    ...['start', 'Ja!!'].map((text) => [text, 'in']),
    ...['please stop', 'stop it', 'stopper', 'I will not stop', '', '👍', 'x'.repeat(100_000)].map((text) => [
      text,
      undefined,
    ]),
  ])('%j means %s', (text, what) => {
    expect(read(text as string)?.what).toBe(what);
  });

  test.each([
    [['!?'], [], 'no letter'],
    [['STOP'], ['stop.'], 'both'],
  ])('%j and %j are refused', (out, inWords, why) => {
    expect(() => createWordReader({ out, in: inWords })).toThrow(why);
  });
});

describe('an SMS that is one of the words', () => {
  test('gets its line before it is acknowledged; other texts get none, and none is answered by a message', async () => {
    const { post, lines, disk } = await aTaker();
    expect(disk.readText(LIST)).toBe(OPT_OUT_HEADER);
    expect(await post(anSms('stop'))).toEqual([200, 'written']);
    expect(lines()).toEqual(['+6591234567,out,2026-11-26T09:00:00.000Z,listen:u-stop,STOP']);
    expect(await post(anSms('when do you open?'))).toEqual([200, 'written']);
    expect(await post(anSms('start', { afterS: 9 }))).toEqual([200, 'written']);
    expect(await post(anSms('STOP', { from: 'ACME', umid: 'u-2' }))).toEqual([200, 'written']);
    expect(await post({ ...anSms('STOP', { umid: 'u-3' }), namespace: 'ChatApps' })).toEqual([200, 'written']);
    expect(lines().slice(1)).toEqual(['+6591234567,in,2026-11-26T09:00:09.000Z,listen:u-start,START']);
  });

  test.each(['6591234567', '+65 9123 4567', '006591234567', 'tel:+6591234567', 6591234567])(
    'gets its line as the number is written: from %j',
    async (from) => {
      const { post, lines } = await aTaker();
      expect(await post(anSms('stop', { from: from as string }))).toEqual([200, 'written']);
      expect(lines()).toEqual([expect.stringContaining('+6591234567,out,')]);
    },
  );

  test.each(['ACME', '12345', '91234508', '', null])(
    'gets none, with a warning, from a sender like %j',
    async (from) => {
      const { post, lines, warned, taking } = await aTaker();
      expect(await post(anSms('stop', { from: from as string }))).toEqual([200, 'written']);
      expect([lines(), warned]).toEqual([[], [expect.stringContaining('was not taken down')]]);
      expect(warned[0]).not.toContain('91234508');
      expect([taking.json, taking.said]).toEqual([
        { optOuts: { file: LIST, out: 0, in: 0, notTakenDown: 1 } },
        expect.stringContaining('1 not taken down'),
      ]);
    },
  );

  test('gets one line however often it comes, after a restart too', async () => {
    const disk = aMemoryDisk();
    const first = await aTaker(disk);
    await first.post(anSms('stop'));
    expect(await first.post(anSms('stop'))).toEqual([200, 'duplicate']);
    await first.close();
    await first.taking.close();
    const second = await aTaker(disk);
    // With another header of its event it is written as an event once more.
    expect(await second.post(anSms('stop'), { headers: { 'x-8x8-event-id': 'e9' } })).toEqual([200, 'written']);
    expect(second.lines()).toHaveLength(1);
  });

  test('by which a person opts in, and that comes after they opted out later, gets none', async () => {
    const { post, lines } = await aTaker();
    await post(anSms('stop', { afterS: 20 }));
    await post(anSms('start', { afterS: 10 }));
    expect(lines().map((line) => line.split(',')[1])).toEqual(['out']);
    await post(anSms('start', { afterS: 30, umid: 'u-later' }));
    expect(lines().map((line) => line.split(',')[1])).toEqual(['out', 'in']);
  });

  test('is not acknowledged where its line cannot be written, so that the service repeats it', async () => {
    const disk = aMemoryDisk();
    let isFull = false;
    const openAppend: typeof disk.files.openAppend = async (path) => {
      const file = await disk.files.openAppend(path);
      const append: typeof file.append = (bytes) =>
        isFull ? Promise.reject(new Error('ENOSPC: no space left')) : file.append(bytes);
      return { ...file, append };
    };
    const { post, lines, taking } = await aTaker(disk, { ...disk.files, openAppend });
    isFull = true;
    expect((await post(anSms('stop')))[0]).toBe(503);
    expect((await taking.failed).message).toContain('Cannot write opt-outs');
    expect(lines()).toEqual([]);
  });
});

describe('a list that another program changes while it is listened to', () => {
  const older = `${OPT_OUT_HEADER}+6581111111,out,2026-11-25T09:00:00.000Z,ann,\n`;
  const stop = (umid: string, from: string) => anSms('stop', { umid, from });

  test.each([
    ['replaced, as editors and rsync do', (disk: MemoryDisk) => disk.replace(LIST, older)],
    ['saved again in its place', (disk: MemoryDisk) => disk.write(LIST, older)],
    ['removed', (disk: MemoryDisk) => disk.files.remove(LIST)],
  ])('%s, gets each line that is acknowledged from then on', async (_how, change) => {
    const { post, lines, disk, warned } = await aTaker();
    await post(stop('u-1', '+6591234567'));
    await change(disk);
    expect(await post(stop('u-2', '+6591234568'))).toEqual([200, 'written']);
    expect(await post(stop('u-3', '+6591234569'))).toEqual([200, 'written']);
    const taken = lines().filter((line) => line.includes('listen:'));
    expect(taken.map((line) => line.split(',')[0])).toEqual(['+6591234568', '+6591234569']);
    expect(disk.openFiles.filter((path) => path === LIST)).toHaveLength(1);
    if (disk.readText(LIST).includes('ann')) expect(lines()[0]).toContain('+6581111111');
    expect(warned.join()).toContain('without 1 number that opted out');
  });

  test('with a list of others in its place, acknowledges nothing', async () => {
    const { post, disk, taking } = await aTaker();
    disk.replace(LIST, 'mobile\n+6581111111\n');
    expect((await post(stop('u-1', '+6591234567')))[0]).toBe(503);
    expect((await taking.failed).message).toContain('not a list that Volley writes');
    expect(disk.readText(LIST)).toBe('mobile\n+6581111111\n');
  });

  test('again and again, acknowledges nothing', async () => {
    const disk = aMemoryDisk();
    const { post, taking } = await aTaker(disk);
    disk.onOperation = (operation) => {
      if (operation === `datasync ${LIST}`) disk.replace(LIST, older);
    };
    expect((await post(stop('u-1', '+6591234567')))[0]).toBe(503);
    expect((await taking.failed).message).toContain('again and again');
  });
});

test('a line behind a torn one begins at the start of a line', async () => {
  const disk = aMemoryDisk({ [LIST]: `${OPT_OUT_HEADER}+6591` });
  const { post, lines } = await aTaker(disk);
  await post(anSms('stop'));
  expect(lines()).toEqual(['+6591', expect.stringContaining('+6591234567,out')]);
});

test.each(['list.xlsx', 'list.ndjson', 'list.csv.gz'])(
  '%s, by whose name jobs would read something else, is never begun',
  async (name) => {
    const { files } = aMemoryDisk();
    const path = `/lists/${name}`;
    await expect(openOptOutFile(path, { files })).rejects.toThrow('expected a CSV that begins with number,');
    expect(await files.stat(path)).toBeUndefined();
  },
);

test('each decision of a person is a line, also where the same one decided before', async () => {
  const { files, readText } = aMemoryDisk();
  const list = await openOptOutFile(LIST, { files });
  for (const number of ['+6591234567', '+6591234568'])
    await list.add({ number, what: 'out', at: new Date(T0).toISOString(), by: 'Ann', word: '' });
  await list.close();
  expect(readText(LIST)).toMatch(/\+6591234567,out,.*\n\+6591234568,out,.*\n$/);
});

test('a list that is empty, as the process that made it died, is begun', async () => {
  const { files, readText } = aMemoryDisk({ [LIST]: '' });
  const list = await openOptOutFile(LIST, { files });
  expect(readText(LIST)).toBe(OPT_OUT_HEADER);
  await list.close();
});

test('a list of others is refused: every number in it is out', async () => {
  const disk = aMemoryDisk({ [LIST]: 'mobile\n+6591234567\n' });
  await expect(aTaker(disk)).rejects.toMatchObject({ code: 'bad-input' });
});

test('words without a list are refused', async () => {
  const { files } = aMemoryDisk();
  const flags = { optOuts: undefined, words: ['STOP'], inWords: undefined };
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  await expect(takeOptOuts(flags, { files, clock: new FakeClock(), log })).rejects.toMatchObject({ code: 'bad-flag' });
});
