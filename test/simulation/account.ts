import { isRowKind } from '../../src/domain/areas.js';
import { isWithheld } from '../../src/domain/row-codes.js';
import { EXAMPLES } from '../kinds/examples.js';
import type { CrashDisk } from '../world/crash-disk.js';
import { judgeRow, judgeTaken, type Outcome, readOutputs, type StepWithRows } from '../world/judge.js';
import type { Kept, Service } from '../world/service.js';
import { Violation } from '../world/violation.js';
import { findRunDirectory } from './planned-rows.js';
import type { Scenario } from './scenario.js';

const OUTPUT_OF_FATE = { planned: undefined, invalid: 'rejections', duplicate: 'skipped' } as const;

/** Compares the outputs of a finished job, row by row, with what the service did. Gives the rows in doubt, as `<kind> <row>`. */
export function checkAccount(disk: CrashDisk, scenario: Scenario, { ledger }: Service, kept: Kept): string[] {
  const { steps } = scenario.job;
  const dialer = ledger.findLast((entry) => entry.area === 'campaign');
  if (dialer?.status === PAUSED && steps.some(({ kind }) => kind === 'campaign'))
    throw new Violation('the job is finished, and its dialer is still paused');
  const ends = ledger.filter((entry) => entry.area === 'chat' && entry.messageRaw === 'finished').length;
  if (ends > 1) throw new Violation(`the chat got ${ends} words of the end`);
  const directory = findRunDirectory(disk, scenario);
  if (directory === undefined) throw new Violation('the job is finished, and has no run');
  return stepsOf(scenario).flatMap((step) => {
    const outputs = readStep(disk, directory, step);
    for (const [index, row] of step.rows.entries()) {
      const outcome = outputs.get(index + 1) as Outcome;
      // The second of a number takes the place of a first one that was skipped: its text is another.
      const first = outputs.get(step.rows.findIndex(({ mobile }) => mobile === row.mobile) + 1);
      const isExpected = EXAMPLES[step.kind].skipsDuplicates && (row.fate === 'invalid' || first?.output !== 'skipped');
      const expected = isExpected ? OUTPUT_OF_FATE[row.fate] : undefined;
      if (outcome.output === 'unprocessed' && !isWithheld(outcome.cells._code ?? ''))
        throw new Violation(`row ${index + 1} is unprocessed in a finished run`);
      if (expected !== undefined && outcome.output !== expected)
        throw new Violation(`row ${index + 1} is ${row.fate}, and in ${outcome.output}`);
      judgeRow(step, row, outcome, kept);
    }
    judgeTaken(step, outputs, kept);
    const { column } = EXAMPLES[step.kind];
    return [...outputs.values()].flatMap(({ output, cells }) =>
      output === 'in-doubt' ? [`${step.kind} ${cells[column]}`] : [],
    );
  });
}

/** The dialer's number of it. */
const PAUSED = 8;

/** The steps with rows; each reads the same file. */
export function stepsOf({ job, rows }: Scenario): StepWithRows[] {
  return job.steps.flatMap(({ kind }, index) => (isRowKind(kind) ? [{ number: index + 1, kind, rows }] : []));
}

/** Where each row of a step stands. */
export function readStep({ volume }: CrashDisk, directory: string, step: StepWithRows): Map<number, Outcome> {
  return readOutputs(step, (file) => String(volume.readFileSync(`${directory}/${file}`, 'utf8')));
}
