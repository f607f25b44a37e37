import { expect, it } from 'vitest';
import type { Plan } from '../../src/plan/format/plan-file.js';
import { addNotDelivered, readNotDelivered, SANDBOX_FILE } from '../../src/report/deliveries.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';

const RUN = '/out/sale/p1';

function aPlan(sandbox: boolean): Plan {
  return { job: { service: { sandbox } } } as Plan;
}

it('what the sandbox did not deliver adds up over the processes of a run', async () => {
  const { files, has } = aMemoryDisk();
  await files.makeDirectory(RUN);
  await addNotDelivered(files, RUN, 0);
  expect([await readNotDelivered(files, RUN, aPlan(true)), has(`${RUN}/${SANDBOX_FILE}`)]).toEqual([0, false]);
  await addNotDelivered(files, RUN, 12);
  await addNotDelivered(files, RUN, 30);
  expect(await readNotDelivered(files, RUN, aPlan(true))).toBe(42);
});

it.each(['', '{}', '{"format":1,"notDelivered":-1}', '{"format":1,"notDelivered":"many"}'])(
  'a damaged file %j says nothing, and stops nothing',
  async (text) => {
    const { files } = aMemoryDisk({ [`${RUN}/${SANDBOX_FILE}`]: text });
    expect(await readNotDelivered(files, RUN, aPlan(true))).toBeNull();
  },
);

it('a run on another service has no such figure', async () => {
  expect(await readNotDelivered(aMemoryDisk().files, RUN, aPlan(false))).toBeNull();
});
