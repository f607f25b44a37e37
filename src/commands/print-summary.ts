import { dirname, join } from 'node:path';
import type { StepSummary, Summary } from '../report/summary.js';
import { format, formatCounts } from './print-plan.js';
import { SANDBOX_DIRECTORY } from './sandbox-directory.js';
import { escapeText } from './terminal.js';

/** The account of a run in plain words, for a person. */
export function formatSummary(summary: Summary, { isSandbox }: { isSandbox: boolean }): string {
  const { read, accepted } = summary.balance;
  const steps = summary.steps.map((step) => formatStep(step, summary.directory)).join('\n');
  return (
    `${escapeText(describeState(summary))}\n\n${steps}\n` +
    `${`All in all: ${format(accepted)} of ${format(read)} rows accepted. ${describeNext(summary)}`.trimEnd()}\n` +
    `Everything about this run: ${escapeText(summary.directory)}\n${isSandbox ? describeSandbox(summary) : ''}`
  );
}

function describeSandbox({ directory, notDelivered }: Summary): string {
  const ledger = join(dirname(directory), SANDBOX_DIRECTORY, 'ledger.ndjson');
  return (
    `This was the sandbox: no message left this machine. What it accepted: ${escapeText(ledger)}\n` +
    describeNotDelivered(notDelivered ?? 0)
  );
}

function describeNotDelivered(count: number): string {
  if (count === 0) return '';
  const what = count === 1 ? 'receipt or event was' : 'receipts and events were';
  return `${format(count)} ${what} not delivered: outside of this machine.\n`;
}

function describeState({ job, plan, retryOf, state, stop }: Summary): string {
  const run = `Run ${plan} of job ${job}${retryOf === null ? '' : `, which retries rows of run ${retryOf},`}`;
  switch (state) {
    case 'finished':
      return `${run} is finished: every row is accounted for.`;
    case 'stopped':
      return `${run} stopped before its end (${stop?.reason}: ${stop?.detail}).`;
    case 'unfinished':
      return `${run} is under way, or its process died.`;
    case 'planned':
      return `${run} is planned; nothing was sent.`;
  }
}

function formatStep(step: StepSummary, directory: string): string {
  const { balance, files, action } = step;
  const name = `Step ${step.number} (${escapeText(step.kind)})`;
  if (action !== null) return `${name}: ${escapeText(describeAction(action))}\n`;
  if (Object.keys(files).length === 0) return `${name}: had no turn\n`;
  const line = (name: string, count: number, more: string, output: keyof StepSummary['files']) =>
    count === 0
      ? []
      : [
          `  ${name.padEnd(12)}${format(count).padStart(9)}${escapeText(more)}`,
          `${' '.repeat(24)}→ ${escapeText(join(directory, files[output] ?? ''))}`,
        ];
  const lines = [
    `${name}: ${format(balance.read)} rows read, ${format(step.requests.settled)} of ${format(step.requests.planned)} requests settled`,
    ...line('accepted', balance.accepted, '', 'results'),
    ...line('rejected', balance.rejected, formatCounts(step.rejections), 'rejections'),
    ...line('skipped', balance.skipped, formatCounts(step.skips), 'skipped'),
    ...line('in doubt', balance.inDoubt, '', 'in-doubt'),
    ...line('unprocessed', balance.unprocessed, '', 'unprocessed'),
  ];
  return `${lines.join('\n')}\n`;
}

/** What came of a step without rows, as it must still be escaped. */
export function describeAction({ status, code, reason }: NonNullable<StepSummary['action']>): string {
  // The code of what was done is one word of its reason.
  if (status === 'accepted') return `${reason.slice(0, 1).toLowerCase()}${reason.slice(1)}`;
  return `${status === 'in-doubt' ? 'in doubt' : 'not done'} (${code}): ${reason}`;
}

function describeNext({ balance, exitCode, state }: Summary): string {
  if (state === 'planned') return 'Send it with `volley run` and the job, or `volley apply` and this directory.';
  if (exitCode === 75) return 'Run the same command to go on.';
  if (exitCode === 4) return 'A person must look at it; then run the same command to go on.';
  if (balance.inDoubt > 0)
    return 'Rows in doubt may or may not have been sent; they are never sent again by themselves. See volley settle.';
  if (balance.unprocessed > 0)
    return 'Rows that were in doubt, and were not sent, can be: volley retry --only not-sent.';
  if (balance.rejected > 0) return 'Mend the rejections file and give it to the job as input.';
  return '';
}
