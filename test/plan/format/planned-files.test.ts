import { describe, expect, it } from 'vitest';
import { decodeRequestLine, encodeRequestLine } from '../../../src/plan/format/plan-file.js';
import { assertPlanWhole, readPlannedRows } from '../../../src/plan/format/planned-files.js';
import { readRowPlaces, readRowsOfOthers } from '../../../src/plan/reimport/named-rows.js';
import { writeReport } from '../../../src/report/write-report.js';
import { aRun, aScriptedService } from '../../run/a-run.js';
import { aContactsStep, anSmsStep, aPlan, type MadePlan } from '../a-plan.js';

const REQUESTS = '1-sms.requests.ndjson';
const ROWS = '1-sms.rows.ndjson';

/** Everything that reads the rows of a plan. */
const READERS: Readonly<Record<string, (made: MadePlan) => Promise<unknown>>> = {
  'the check before a run': ({ disk, directory, plan }) => assertPlanWhole(disk.files, directory, plan),
  'the report': ({ disk, directory, plan }) => writeReport(disk.files, directory, plan),
  'the planned rows': ({ disk, directory, plan }) => exhaust(readPlannedRows(disk.files, directory, plan.steps[0]!)),
  'the rows of other plans': ({ disk, directory, plan }) => {
    const retryOf = { run: 'another', only: 'rejected', codes: [] } as const;
    return exhaust(readRowsOfOthers(disk.files, { directory, plan: { ...plan, retryOf } }));
  },
  'the places of rows': ({ disk, directory, plan }) => readRowPlaces(disk.files, { directory, plan }),
};

async function exhaust(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of rows);
}

function damagedFile(made: MadePlan, name: string) {
  const code = 'plan-damaged';
  return expect.objectContaining({ code, message: expect.stringContaining(`Cannot use ${made.directory}/${name}: `) });
}

describe.each(Object.entries(READERS))('%s', (_, read) => {
  it('reads a plan that is whole, and refuses any bit of its rows that changed, naming the file', async () => {
    const made = await aPlan();
    const path = `${made.directory}/${ROWS}`;
    const whole = Buffer.from(made.disk.readText(path));
    await read(made);
    for (let bit = 0; bit < whole.length * 8; bit += 3) {
      const damaged = Buffer.from(whole);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      made.disk.write(path, damaged);
      await expect(read(made), `bit ${bit}: ${damaged}`).rejects.toEqual(damagedFile(made, ROWS));
    }
  });

  it.each([
    ['is gone', undefined],
    ['is empty', () => ''],
    ['lost its last line', (text: string) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1)],
    ['has its first line twice', (text: string) => `${text.slice(0, text.indexOf('\n') + 1)}${text}`],
    ['grew', (text: string) => `${text}\n`],
  ])('refuses a plan whose rows file %s', async (__, change) => {
    const made = await aPlan();
    const path = `${made.directory}/${ROWS}`;
    if (change === undefined) await made.disk.files.remove(path);
    else made.disk.write(path, change(made.disk.readText(path)));
    await expect(read(made)).rejects.toEqual(damagedFile(made, ROWS));
  });
});

describe('a run whose plan is damaged', () => {
  it.each([
    ['a changed digit in a row of its last step', '2-sms.rows.ndjson', (text: string) => text.replace('+65', '+66')],
    ['requests that were cut off', '2-sms.requests.ndjson', (text: string) => text.slice(0, -2)],
    ['requests that are gone', '2-sms.requests.ndjson', undefined],
  ])('by %s sends nothing at all, and its journal stays as it was', async (_, name, change) => {
    const made = await aPlan({ job: { steps: [aContactsStep(), anSmsStep()] } });
    const path = `${made.directory}/${name}`;
    if (change === undefined) await made.disk.files.remove(path);
    else made.disk.write(path, change(made.disk.readText(path)));
    const service = aScriptedService();
    await expect(aRun({ made, service })).rejects.toEqual(damagedFile(made, name));
    expect(service.sent).toEqual([]);
    expect(made.disk.has(`${made.directory}/journal.ndjson`)).toBe(false);
  });

  it.each(['with', 'without'])(
    'by another digit in a request, %s a checksum that fits, sends nothing at all',
    async (how) => {
      const made = await aPlan();
      const path = `${made.directory}/${REQUESTS}`;
      const { body, ...head } = decodeRequestLine(Buffer.from(made.disk.readText(path).trimEnd()), path);
      const changed = Buffer.from(body.toString().replace('+65', '+66'));
      const line = Buffer.concat(encodeRequestLine(head, changed)).toString();
      made.disk.write(path, how === 'with' ? line : made.disk.readText(path).replace('+65', '+66'));
      const service = aScriptedService();
      await expect(aRun({ made, service })).rejects.toEqual(damagedFile(made, REQUESTS));
      expect(service.sent).toEqual([]);
      expect(made.disk.has(`${made.directory}/journal.ndjson`)).toBe(false);
    },
  );
});
