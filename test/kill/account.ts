import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Summary } from '../../src/report/summary.js';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import { EXAMPLES } from '../kinds/examples.js';
import { judgeRow, judgeTaken, OUTPUTS, type Output, readOutputs } from '../world/judge.js';
import { Kept } from '../world/service.js';
import { Violation } from '../world/violation.js';
import type { KillStep } from './job.js';

const OUTPUT_OF_FATE = { planned: 'results', invalid: 'rejections', duplicate: 'skipped' } as const;

/** The only directory of the job with a plan in it; undefined before there is one. */
export function findRun(jobDirectory: string): string | undefined {
  if (!existsSync(jobDirectory)) return undefined;
  const names = readdirSync(jobDirectory).filter((name) => !name.startsWith('.'));
  const runs = names.filter((name) => existsSync(join(jobDirectory, name, 'plan.json')));
  if (runs.length > 1) throw new Violation(`one job and its files made ${runs.length} plans`);
  return runs[0] === undefined ? undefined : join(jobDirectory, runs[0]);
}

/**
 * Holds the outputs of a finished run against the service's ledger, row by row: nothing twice, nothing lost, in doubt exactly
 * `openRows` (`<step> <index of the planned row>`) of the steps that may not be repeated.
 */
export function checkAccount(
  directory: string,
  steps: readonly KillStep[],
  { ledger, openRows }: { ledger: readonly LedgerEntry[]; openRows: ReadonlySet<string> },
): Summary {
  const summary: Summary = JSON.parse(readFileSync(join(directory, 'summary.json'), 'utf8'));
  if (summary.state !== 'finished') throw new Violation(`the run is ${summary.state}`);
  const kept = new Kept(ledger);
  for (const step of steps) {
    const outputs = readOutputs(step, (file) => readFileSync(join(directory, file), 'utf8'));
    const counted = Object.fromEntries(OUTPUTS.map((output) => [output, 0])) as Record<Output, number>;
    let planned = 0;
    for (const [index, row] of step.rows.entries()) {
      const outcome = outputs.get(index + 1)!;
      counted[outcome.output] += 1;
      const mayBeOpen = row.fate === 'planned' && EXAMPLES[step.kind].isHarmlessTwice !== true;
      const isOpen = mayBeOpen && openRows.has(`${step.number} ${planned}`);
      if (row.fate === 'planned') planned += 1;
      const expected = isOpen ? 'in-doubt' : OUTPUT_OF_FATE[row.fate];
      if (outcome.output !== expected) {
        const where = `step ${step.number} (${step.kind}), row ${index + 1}`;
        throw new Violation(`${where} is in ${outcome.output}, expected ${expected}`);
      }
      judgeRow(step, row, outcome, kept);
    }
    judgeTaken(step, outputs, kept);
    const balance = JSON.stringify(summary.steps[step.number - 1]?.balance);
    const { results: accepted, rejections: rejected, skipped, 'in-doubt': inDoubt, unprocessed } = counted;
    const expected = JSON.stringify({ read: step.rows.length, accepted, rejected, skipped, inDoubt, unprocessed });
    if (balance !== expected)
      throw new Violation(`step ${step.number}: the summary says ${balance}, the files ${expected}`);
  }
  return summary;
}

/** A webhook and a channel are made once, and once more for each time that the run stopped to say that they may exist. */
export function checkPrepared(ledger: readonly LedgerEntry[], saidUnknown: number): void {
  for (const kind of ['webhook', 'channel']) {
    const made = ledger.filter((entry) => entry.area === 'gateway' && entry.kind === kind).length;
    if (made > 1 + saidUnknown) throw new Violation(`${made} times a ${kind}, and only ${saidUnknown} were reported`);
  }
}
