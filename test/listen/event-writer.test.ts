import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/domain/errors.js';
import { EventWriter } from '../../src/listen/event-writer.js';
import type { AppendFile } from '../../src/storage/files.js';
import { HeldDisk, OUTPUT } from './a-listener.js';

async function aWriter(assertHeld: () => Promise<void> = async () => {}, changes: Partial<AppendFile> = {}) {
  const held = new HeldDisk();
  const { trace } = held;
  const failures: Error[] = [];
  const file = { ...(await held.files.openAppend(OUTPUT)), ...changes };
  const writer = new EventWriter({ file, assertHeld, onFailure: (error) => failures.push(error) });
  const append = (line: string) =>
    writer.append(Buffer.from(`${line}\n`)).then(
      () => void trace.push(`durable ${line}`),
      (error: Error) => void trace.push(`refused ${line}: ${error.message}`),
    );
  return { held, trace, failures, writer, append };
}

describe('event writer', () => {
  test('says that a line is durable only after it was written and synced', async () => {
    const { held, trace, append } = await aWriter();
    const done = append('a');
    await held.endSync();
    await done;
    expect(trace).toEqual(['append 1', 'sync', 'synced', 'durable a']);
  });

  test('lets lines that come while a sync is under way share the next one', async () => {
    const { held, trace, append } = await aWriter();
    const all = [append('a')];
    await held.syncAsked();
    all.push(append('b'), append('c'), append('d'));
    await held.endSync();
    await held.syncAsked();
    expect(trace).toEqual(['append 1', 'sync', 'synced', 'durable a', 'append 3', 'sync']);
    await held.endSync();
    await Promise.all(all);
    expect(trace.slice(6)).toEqual(['synced', 'durable b', 'durable c', 'durable d']);
    expect(held.disk.readText(OUTPUT)).toBe('a\nb\nc\nd\n');
  });

  test('takes the first failure of a sync as final: all that waits is refused, and the disk is not asked again', async () => {
    const { held, trace, failures, writer, append } = await aWriter();
    const all = [append('a')];
    await held.syncAsked();
    all.push(append('b'));
    await held.endSync(new Error('EIO: i/o error'));
    await Promise.all(all);
    const why = 'Cannot write events: EIO: i/o error. What was not written was not acknowledged';
    expect(trace).toEqual(['append 1', 'sync', `refused a: ${why}`, `refused b: ${why}`]);
    await append('c');
    expect(trace.slice(4)).toEqual([`refused c: ${why}`]);
    expect(failures).toMatchObject([{ name: 'InternalError', code: 'write-failed' }]);
    await expect(writer.close()).rejects.toThrow(why);
  });

  test('does not sync after a write that failed', async () => {
    const append = () => Promise.reject(new Error('ENOSPC'));
    const made = await aWriter(undefined, { append });
    await made.append('a');
    expect(made.trace).toEqual([expect.stringContaining('refused a: Cannot write events: ENOSPC')]);
  });

  test('writes nothing once the file may be another process’s', async () => {
    const lost = new UserError('lock-held', 'Cannot continue: lost');
    const { trace, failures, append } = await aWriter(() => Promise.reject(lost));
    await append('a');
    expect(trace).toEqual(['refused a: Cannot continue: lost']);
    expect(failures).toEqual([lost]);
  });

  test('closes after what is under way, and refuses what comes later', async () => {
    const { held, trace, writer, append } = await aWriter();
    const all = [append('a')];
    await held.syncAsked();
    all.push(append('b'));
    const closed = writer.close().then(() => trace.push('closed'));
    await held.endSync();
    await held.endSync();
    await Promise.all([...all, closed]);
    expect(trace.slice(-2)).toEqual(['durable b', 'closed']);
    await append('c');
    expect(trace.at(-1)).toBe('refused c: Cannot write an event: the file is closed');
  });
});
