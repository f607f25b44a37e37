import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { beforeAll, expect, it, vi } from 'vitest';
// As it is built: a thread cannot be started from sources.
import { ThreadedCsvReader } from '../../dist/input/fast/threaded-csv.js';
import type { Job, RowStep } from '../../src/job/job.js';
import { isRowStep } from '../../src/job/job.js';
import { loadJob } from '../../src/job/load.js';
import { PLAN_FILE, requestsFile, rowsFile } from '../../src/plan/format/plan-file.js';
import { nodeFiles } from '../../src/storage/files.js';
import { oneIn } from '../one-in.js';
import { aContactsStep, aFolder, aNumber, anInput } from '../plan/a-plan.js';
import { anyPeople, people, STEPS } from '../plan/any-people.js';

type Planner = Pick<typeof import('../plan/a-plan.js'), 'makeAPlan'> &
  Pick<typeof import('../../src/normalize/number/number-fast.js'), 'readFast'>;

const SWITCHES = '../../src/domain/fast-path.js';

let slow: Planner;
let fast: Planner;

beforeAll(async () => {
  fast = await loadPlanner();
  vi.resetModules();
  vi.doMock(SWITCHES, async (load) =>
    Object.fromEntries(Object.keys(await load<object>()).map((name) => [name, false])),
  );
  slow = await loadPlanner();
  vi.doUnmock(SWITCHES);
});

async function loadPlanner(): Promise<Planner> {
  const [{ makeAPlan }, { readFast }] = await Promise.all([
    import('../plan/a-plan.js'),
    import('../../src/normalize/number/number-fast.js'),
  ]);
  return { makeAPlan, readFast };
}

/** Every file of the plan; or what it is refused for. */
async function filesOf(
  planner: Planner,
  options: Parameters<Planner['makeAPlan']>[0],
  steps: readonly Job['steps'][number][],
) {
  const { made, disk } = await planner.makeAPlan(options);
  const paths = steps.flatMap((step, at) => {
    if (!isRowStep(step)) return [];
    const place = { number: at + 1, kind: step.kind };
    return [requestsFile('', place), rowsFile('', place)];
  });
  return [PLAN_FILE, ...paths].map((path) => disk.readText(join(made?.directory ?? '', path)));
}

async function expectTheSame(
  folder: string,
  steps: readonly Job['steps'][number][],
  job: Partial<Job> = {},
): Promise<string[]> {
  const options = { job: { ...job, steps: [...steps] }, files: folder };
  const inThread = {
    readRecords: (...args: ConstructorParameters<typeof ThreadedCsvReader>) => new ThreadedCsvReader(...args),
  };
  const plain = await filesOf(slow, options, steps);
  expect(await filesOf(fast, options, steps)).toEqual(plain);
  const isCsv = steps.every((step) => !isRowStep(step) || step.input.files.every((path) => /\.csv$/.test(path)));
  if (isCsv) expect(await filesOf(fast, { ...options, reader: inThread }, steps)).toEqual(plain);
  return plain;
}

it('is off where it is switched off: then no number is read by it', () => {
  expect(fast.readFast('+6591234567', undefined)).toEqual({ digits: 6_591_234_567, country: 'SG' });
  expect(slow.readFast('+6591234567', undefined)).not.toEqual(expect.anything());
});

const CONTACTS = aContactsStep({ input: people });

it.each(oneIn(3, [...STEPS, ['contacts', CONTACTS] as const]))(
  'gives the plan that the libraries give, byte for byte: %s',
  async (_what, step: RowStep) => {
    const stop = `mobile\n${aNumber(0)}\n${aNumber(3)}\n`;
    await fc.assert(
      fc.asyncProperty(anyPeople, async (file) => {
        expect(await expectTheSame(aFolder({ 'people.csv': file, 'stop.csv': stop }), [step])).toHaveLength(3);
      }),
      { numRuns: 1 },
    );
  },
);

it('gives the plan that the libraries give with prices, of prefixes as well', async () => {
  const list = 'country,prefix,sms\nSG,,0.042\n,+6590,0.03\n,+65900000,0.02\nDE,,0.075\n';
  const prices = { input: anInput({ files: ['prices.csv'] }), currency: 'EUR', onMissing: 'zero' } as const;
  await fc.assert(
    fc.asyncProperty(anyPeople, async (file) => {
      const folder = aFolder({ 'people.csv': file, 'stop.csv': `mobile\n${aNumber(0)}\n`, 'prices.csv': list });
      for (const [, step] of STEPS.slice(0, 3)) await expectTheSame(folder, [step], { prices });
    }),
    { numRuns: 1 },
  );
});

it('gives the plan that the libraries give for the samples', async () => {
  const { steps } = await loadJob(fileURLToPath(new URL('../../jobs/spring-sale.yaml', import.meta.url)), nodeFiles);

  expect((await expectTheSame('/', steps)).length).toBeGreaterThan(3);
});
