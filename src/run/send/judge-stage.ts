import { countOf, format } from '../../domain/count-of.js';
import type { RampStage } from '../../job/job.js';
import type { RowCounts, StageEntry } from '../../journal/entry-format.js';
import type { Plan, PlannedStep } from '../../plan/format/plan-file.js';
import { readRequests } from '../../plan/format/planned-files.js';
import { Receipts } from '../../report/receipt-index.js';
import type { Files } from '../../storage/files.js';

type StageReceipts = NonNullable<StageEntry['receipts']>;

/** Whether receipts say if it passes. */
export function needsReceipts({ stopAbove, needReceiptsPercent }: RampStage): boolean {
  return stopAbove?.undeliveredPercent !== undefined || needReceiptsPercent !== undefined;
}

/**
 * Whether a stage went well, by what the service answered and, where they count, by receipts. What is not known counts against it. `rows`:
 * what became of its rows.
 */
export async function judgeStage(
  files: Files,
  run: { directory: string; plan: Plan },
  { stage, step, number, rows }: { stage: RampStage; step: number; number: number; rows: Readonly<RowCounts> },
): Promise<Pick<StageEntry, 'verdict' | 'why' | 'receipts'>> {
  const planned = run.plan.steps.find((each) => each.number === step);
  const receipts = planned && needsReceipts(stage) ? await countReceipts(files, run, { planned, number }) : undefined;
  const faults = [
    ...listFaults(stage, rows),
    ...(receipts === undefined ? [] : listReceiptFaults(stage, rows, receipts)),
  ];
  const why = [describeFigures(rows, receipts), ...faults].join('; ');
  if (stage.isAsked === true) return { verdict: 'asked', why };
  return { verdict: faults.length === 0 ? 'passed' : 'held', why, receipts };
}

function* listFaults({ stopAbove }: RampStage, rows: Readonly<RowCounts>): Generator<string> {
  if (stopAbove === undefined) return;
  const bad = rows.rejected + rows['in-doubt'];
  const sent = rows.accepted + bad;
  if (sent === 0) yield 'none of its rows was sent';
  if (bad * 100 > stopAbove.rejectedPercent * sent) {
    yield `${format(bad)} of ${format(sent)} were not accepted, more than rejectedPercent ${stopAbove.rejectedPercent}`;
  }
}

function* listReceiptFaults(
  { stopAbove, needReceiptsPercent = 0 }: RampStage,
  rows: Readonly<RowCounts>,
  { delivered, undelivered }: StageReceipts,
): Generator<string> {
  const sent = rows.accepted + rows['in-doubt'];
  const final = delivered + undelivered;
  // Without any, whatever is asked, nothing is known.
  if (sent > 0 && (final === 0 || final * 100 < needReceiptsPercent * sent)) {
    const asked = needReceiptsPercent > 0 ? `, needReceiptsPercent is ${needReceiptsPercent}` : '';
    yield `${countOf(final, 'final receipt')} of ${countOf(sent, 'message')}${asked}`;
  }
  const most = stopAbove?.undeliveredPercent;
  if (most !== undefined && undelivered * 100 > most * final) {
    yield `${format(undelivered)} of ${format(final)} were not delivered, more than undeliveredPercent ${most}`;
  }
}

function describeFigures(
  { accepted, rejected, 'in-doubt': inDoubt, 'not-sent': withheld }: Readonly<RowCounts>,
  receipts: StageReceipts | undefined,
): string {
  return [
    `${countOf(accepted, 'row')} accepted`,
    ...(rejected > 0 ? [`${format(rejected)} rejected`] : []),
    ...(inDoubt > 0 ? [`${format(inDoubt)} in doubt`] : []),
    ...(withheld > 0 ? [`${format(withheld)} withheld`] : []),
    ...(receipts === undefined ? [] : [`${format(receipts.delivered)} delivered`]),
  ].join(', ');
}

/** What the newest receipts of the messages of a stage say, as far as `volley listen` stored them. */
async function countReceipts(
  files: Files,
  { directory, plan }: { directory: string; plan: Plan },
  { planned, number }: { planned: PlannedStep; number: number },
): Promise<StageReceipts> {
  const counts = { delivered: 0, undelivered: 0 };
  const receipts = await Receipts.read(files, directory, plan);
  if (receipts === undefined) return counts;
  try {
    for await (const { stage, first, rows } of readRequests(files, directory, planned)) {
      if (stage !== number) continue;
      const all = Array.from({ length: rows }, (_, at) => first + at);
      const withReceipt = all.filter((row) => receipts.has(planned.number, row));
      for (const { state } of await receipts.receiptsOf(planned.number, withReceipt)) {
        if (state === 'delivered' || state === 'read') counts.delivered += 1;
        if (state === 'undelivered' || state === 'rejected') counts.undelivered += 1;
      }
    }
    return counts;
  } finally {
    await receipts.close();
  }
}
