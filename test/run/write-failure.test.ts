import { describe, expect, it } from 'vitest';
import { decodeLine } from '../../src/journal/entry-format.js';
import { readJournal } from '../../src/journal/reader.js';
import { stepsOf } from '../one-in.js';
import { aPlanOfBatches, linesOf } from '../plan/a-plan.js';
import { aRun, aScriptedService, duplicatesAmong, reportOf } from './a-run.js';

const { first, step } = stepsOf(3);
const aFreshPlan = (concurrency: number) => aPlanOfBatches(7, { concurrency });

/** Operations of the disk in a run that nothing goes wrong in. */
async function countOperations(concurrency: number): Promise<number> {
  const made = await aFreshPlan(concurrency);
  const before = made.disk.operations;
  await aRun({ made });
  return made.disk.operations - before;
}

describe.each([1, 3])('a disk that fails once during a run, concurrency %i', (concurrency) => {
  it('ends the run with the error, whichever operation it is, with nothing sent that has no durable intent', async () => {
    const count = await countOperations(concurrency);
    expect(count).toBeGreaterThan(20);
    for (let n = first; n <= count; n += step) {
      const made = await aFreshPlan(concurrency);
      const path = `${made.directory}/journal.ndjson`;
      const synced = { text: '' };
      let pending: string | undefined;
      made.disk.onOperation = (operation) => {
        synced.text = pending ?? synced.text;
        pending = operation === `datasync ${path}` ? made.disk.readText(path) : undefined;
      };
      const service = aScriptedService((sent) => {
        const durable = linesOf(pending ?? synced.text).flatMap((line) => decodeLine(Buffer.from(line))?.entry ?? []);
        const request = 1 + sent.rows[0]! / 2;
        const isIntended = durable.some((entry) => entry.type === 'intent' && entry.request === request);
        expect(isIntended, `operation ${n}: request of row ${sent.rows[0]} was sent without an intent`).toBe(true);
        return undefined;
      });
      made.disk.failAt(n);
      const error: unknown = await aRun({ made, service }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error, `operation ${n} of ${count}`).toMatchObject({ message: expect.stringContaining('EIO') });

      const sentBefore = service.accepted.length;
      expect((await aRun({ made, service, epoch: 2 })).end.reason).toBe('finished');
      expect(duplicatesAmong(service.accepted)).toEqual([]);
      const { balance } = await reportOf(made);
      expect(balance).toMatchObject({ read: 7, rejected: 0, skipped: 0, unprocessed: 0 });
      expect(balance.accepted + balance.inDoubt).toBe(7);
      expect(service.accepted.length).toBeGreaterThanOrEqual(Math.max(balance.accepted, sentBefore));
    }
  });
});

it('after a disk failed while an entry was written what was not whole is passed over, and said so', async () => {
  const made = await aFreshPlan(1);
  const path = `${made.directory}/journal.ndjson`;
  let writes = 0;
  made.disk.onOperation = (operation) => {
    if (operation === `write ${path}` && ++writes === 3) made.disk.failAt(1);
  };
  await expect(aRun({ made })).rejects.toMatchObject({ code: 'write-failed' });
  made.disk.onOperation = () => {};
  const torn = await readJournal(made.disk.files, path, () => {});
  expect(torn.tornBytes).toBeGreaterThan(0);
  const { notices } = await aRun({ made, epoch: 2 });
  expect(notices[0]).toContain(`The last ${torn.tornBytes} bytes of the journal are incomplete`);
  expect((await readJournal(made.disk.files, path, () => {})).tornBytes).toBe(0);
});
