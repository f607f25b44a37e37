import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EarlyOutputs } from '../../../src/report/early/early-outputs.js';
import { checkNames } from '../../../src/report/name-check.js';
import type { Summary } from '../../../src/report/summary.js';
import { writeReport } from '../../../src/report/write-report.js';
import { StopSwitch } from '../../../src/run/stop.js';
import type { Answer } from '../../../src/service/answer.js';
import type { Files } from '../../../src/storage/files.js';
import { ALL, stepsOf } from '../../one-in.js';
import {
  aContactsStep,
  aCsvOf,
  aNumber,
  anSmsStep,
  aPlan,
  linesOf,
  type MadePlan,
  someLimits,
} from '../../plan/a-plan.js';
import { settleAll } from '../../run/a-mixed-run.js';
import { aRun, aScriptedService, batchAnswer, failure, response, type Script, type Sent } from '../../run/a-run.js';

type Spare = Pick<ConstructorParameters<typeof EarlyOutputs>[0], 'busyShare' | 'freeBytes'>;
const IDLE: Spare = { busyShare: () => 0, freeBytes: async () => 1e12 };
const RESULTS = '1-sms.results.csv';
const RUNS = ALL ? 60 : 6;

describe('outputs that are begun while the run sends', () => {
  it('are those that are written anew, of both steps', async () => {
    const made = await aPlanOf(2000);

    const { summary, wasAnew } = await aRunWithEarly(made);

    expect(summary?.balance).toMatchObject({ read: 4004, accepted: 4001 });
    expect(wasAnew).toBe(false);
    await expectAsWrittenAnew(made, summary);
  });

  it('are so whatever is answered, split, lost, stopped and resumed', async () => {
    const answers = fc.array(fc.constantFrom('accept', 'accept', 'reject one', 'lost', '400', '503', 'again', 'stop'));
    const sizes = { rows: fc.integer({ min: 1, max: 30 }), batchSize: fc.integer({ min: 1, max: 5 }) };
    let begun = 0;
    await fc.assert(
      fc.asyncProperty(sizes.rows, sizes.batchSize, answers, async (rows, batchSize, all) => {
        const made = await aPlanOf(rows, batchSize);
        const left = [...all];
        const script = (sent: Sent, stop: StopSwitch) => answerOf(left.shift(), sent, stop);
        for (let epoch = 1; ; epoch += 1) {
          const { end, summary, wasAnew } = await aRunWithEarly(made, { script, epoch });
          if (!wasAnew) begun += 1;
          await expectAsWrittenAnew(made, summary);
          if (end.reason === 'finished') break;
        }
      }),
      { numRuns: RUNS },
    );
    expect(begun).toBeGreaterThan(RUNS / 3);
  });

  it('say no more than the journal has on disk', async () => {
    const made = await aPlanOfWideRows(9);
    await aRun({ made });
    const { disk, directory } = made;
    const lines = linesOf(disk.readText(`${directory}/journal.ndjson`));
    const ends = lines.flatMap((line, index) => (line.includes('"type":"outcome"') ? [index + 1] : []));
    const bytesOf = (count = 0) =>
      Buffer.byteLength(
        lines
          .slice(0, count)
          .map((line) => `${line}\n`)
          .join(''),
      );
    const journal = { durableBytes: 0 };
    let nowMs = 0;
    const early = new EarlyOutputs({ ...made, files: disk.files, journal, ...IDLE, monotonicMs: () => nowMs });
    const written: number[] = [];
    for (const bytes of [bytesOf(1), bytesOf(ends[0]) - 1, bytesOf(ends[0]), bytesOf(ends[1]), bytesOf(ends[2])]) {
      journal.durableBytes = bytes;
      nowMs += 1000;
      await early.advance();
      written.push(rowsWritten(made));
    }
    await early.close();

    expect(ends).toHaveLength(3);
    expect(written).toEqual([0, 0, 3, 6, 9]);
    expect(disk.list(directory).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('are written anew where rows were settled meanwhile', async () => {
    const made = await aPlanOf(8);
    const script = ({ rows }: Sent) => (rows.includes(7) ? failure(true) : undefined);

    const { summary, wasAnew } = await aRunWithEarly(made, { script, beforeReport: () => settleAll(made, 'sent', 2) });

    expect(wasAnew).toBe(true);
    expect(summary?.steps[0]?.balance).toMatchObject({ accepted: 8, inDoubt: 0 });
    await expectAsWrittenAnew(made, summary);
  });

  it('are written anew where the disk fails, which the run does not notice, at whatever operation', async () => {
    const runFailing = async (at: number) => {
      const made = await aPlanOfWideRows(9);
      const failing = aFailingDisk(made.disk.files, at);
      const { end, summary, wasAnew } = await aRunWithEarly(made, { files: failing.files });
      expect(end.reason).toBe('finished');
      await expectAsWrittenAnew(made, summary);
      return { wasAnew, operations: failing.operations() };
    };
    const { wasAnew, operations } = await runFailing(0);
    expect(wasAnew).toBe(false);
    expect(operations).toBeGreaterThan(20);
    const { first, step } = stepsOf(8);
    for (let at = first; at <= operations; at += step) expect(await runFailing(at)).toMatchObject({ wasAnew: true });
  });

  it.each([
    ['this thread is busy', { ...IDLE, busyShare: () => 0.9 }],
    ['the disk has little room', { ...IDLE, freeBytes: async () => 1000 }],
  ])('are not begun where %s', async (_what, spare) => {
    const made = await aPlanOf(8);
    const opened: string[] = [];

    const { summary, wasAnew } = await aRunWithEarly(made, { spare, onOperation: (name) => opened.push(name) });

    expect(opened.filter((name) => name.endsWith('.part'))).toEqual([]);
    expect(wasAnew).toBe(true);
    await expectAsWrittenAnew(made, summary);
  });
});

it('outputs that were begun get no name where that is refused', async () => {
  const made = await aPlanOf(8);
  const files = checkNames(made.disk.files, () => Promise.reject(new Error('the lock is lost')));
  const { early } = await aRunWithEarly(made, { files, isReported: false });

  const finished = await early?.finish(async ({ writers }) => {
    for (const writer of writers.values()) await writer.finish();
  });

  expect(finished).toBeUndefined();
  expect(Object.keys(outputsOf(made))).toEqual(['run.json', 'plan.json']);
});

const twoSteps = (batchSize = 2) => [
  anSmsStep({ batchSize, limits: someLimits({ concurrency: 2 }), text: 'Hi {{ name }}' }),
  aContactsStep({ limits: someLimits({ concurrency: 2 }) }),
];

/** So many people, a row without a number and a duplicate, in two steps. */
const aPlanOf = (rows: number, batchSize?: number) =>
  aPlan({
    files: { 'people.csv': `${aCsvOf(rows)}n/a,nobody\n${aNumber(0)},again\n` },
    job: { steps: twoSteps(batchSize) },
  });

/** Each is longer than a piece of the rows file that is read at once, and three fill the buffer of an output. */
function aPlanOfWideRows(rows: number): Promise<MadePlan> {
  const lines = Array.from({ length: rows }, (_, row) => `${aNumber(row)},${'x'.repeat(90_000)}\n`);
  const steps = [anSmsStep({ batchSize: 3, limits: someLimits({ concurrency: 1 }) })];
  return aPlan({ files: { 'people.csv': `mobile,name\n${lines.join('')}` }, job: { steps } });
}

/** A run that has a turn to write outputs before each answer, and reports. */
async function aRunWithEarly(
  made: MadePlan,
  options: {
    script?: (sent: Sent, stop: StopSwitch) => ReturnType<Script>;
    epoch?: number;
    spare?: Spare;
    /** Those of the outputs that are begun. */
    files?: Files;
    onOperation?: (name: string) => void;
    beforeReport?: () => Promise<unknown>;
    isReported?: boolean;
  } = {},
) {
  const { disk, directory, plan } = made;
  const stop = new StopSwitch();
  let early: EarlyOutputs | undefined;
  let nowMs = 0;
  const advance = () => {
    nowMs += 1000;
    return early?.advance();
  };
  const service = aScriptedService(async (sent) => {
    await advance();
    return options.script?.(sent, stop);
  });
  const announce = async (journal: { durableBytes: number }) => {
    const { files = disk.files, spare = IDLE } = options;
    early = new EarlyOutputs({ files, directory, plan, journal, ...spare, monotonicMs: () => nowMs });
  };
  disk.onOperation = options.onOperation ?? (() => {});
  const { end } = await aRun({ made, service, stop, epoch: options.epoch ?? 1, announce });
  await advance();
  await options.beforeReport?.();
  const opened: string[] = [];
  disk.onOperation = (operation) => void opened.push(operation);
  const summary = options.isReported === false ? undefined : await writeReport(disk.files, directory, plan, { early });
  disk.onOperation = () => {};
  if (summary !== undefined) await early?.close();
  return {
    end,
    summary,
    early,
    wasAnew: opened.some((name) => name.endsWith('.csv.part') && name.startsWith('open ')),
  };
}

/** Into unfinished results, as far as their buffer was full. */
function rowsWritten({ disk, directory }: MadePlan): number {
  const path = `${directory}/${RESULTS}.part`;
  return disk.has(path) ? Math.max(0, linesOf(disk.readText(path)).length - 1) : 0;
}

function outputsOf({ disk, directory }: MadePlan): Record<string, string> {
  return Object.fromEntries(Object.entries(disk.snapshot(directory)).filter(([name]) => !name.endsWith('.ndjson')));
}

async function expectAsWrittenAnew(made: MadePlan, summary: Summary | undefined): Promise<void> {
  const left = outputsOf(made);
  expect(Object.keys(left).filter((name) => name.endsWith('.part'))).toEqual([]);
  expect(await writeReport(made.disk.files, made.directory, made.plan)).toEqual(summary);
  expect(outputsOf(made)).toEqual(left);
}

/** The n-th operation on it fails. */
function aFailingDisk(files: Files, at: number) {
  let count = 0;
  const pass = <T>(operation: () => Promise<T>): Promise<T> => {
    count += 1;
    return count === at ? Promise.reject(new Error('ENOSPC: as the test wants it')) : operation();
  };
  const openRead: Files['openRead'] = (path) =>
    pass(async () => {
      const file = await files.openRead(path);
      return { ...file, read: (offset, length) => pass(() => file.read(offset, length)) };
    });
  const createWhole: Files['createWhole'] = (path) =>
    pass(async () => {
      const file = await files.createWhole(path);
      return { ...file, write: (chunk) => pass(() => file.write(chunk)), finish: () => pass(() => file.finish()) };
    });
  return { files: { ...files, openRead, createWhole }, operations: () => count };
}

function answerOf(kind: string | undefined, sent: Sent, stop: StopSwitch): Answer | undefined {
  switch (kind) {
    case 'stop':
      stop.request('interrupted', 'SIGTERM');
      return undefined;
    case 'lost':
      return failure(true);
    case 'again':
      return failure(false);
    case '400':
      return response(400, { code: 1100, message: 'Bulk limit reached' });
    case '503':
      return response(503, { code: 2000, message: 'busy', errorId: 'e' });
    case 'reject one': {
      if (sent.body.messages === undefined) return response(400, { code: 1001, message: '=bad' });
      const { messages, ...answer } = batchAnswer(sent);
      const status = { code: 'REJECTED', description: 'No route' };
      return response(200, {
        ...answer,
        messages: messages.map((each, at) => (at === 0 ? { ...each, status } : each)),
      });
    }
    default:
      return undefined;
  }
}
