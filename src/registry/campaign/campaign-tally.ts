import { isLeftOutCode } from '../../domain/row-codes.js';
import { isRowStep } from '../../job/job.js';
import { type RowId, readRowId } from '../../kinds/ids.js';
import { kindOf } from '../../kinds/kinds.js';
import type { FunnelStage, Plan, PlannedStep } from '../../plan/format/plan-file.js';
import { readRowBatches } from '../../plan/format/planned-files.js';
import type { RowLine } from '../../plan/format/row-line.js';
import { idStartOf } from '../../plan/reimport/refused-rows.js';
import type { RunRows } from '../../report/read-run-rows.js';
import { emptyBalance, type StepSummary } from '../../report/summary.js';
import type { Files } from '../../storage/files.js';
import type { Claims } from '../claims.js';

type Counts = Map<string, number>;

/** Of a step, of all runs of a campaign. */
interface StepTally {
  readonly number: number;
  readonly kind: string;
  readonly balance: StepSummary['balance'];
  readonly rejections: Counts;
  readonly skips: Counts;
  /** By the code of a stage and its filter, as in the funnels of the plans. */
  readonly stages: Counts;
  readonly reasons: Record<'in-doubt' | 'unprocessed', Counts>;
}

/**
 * What became of the rows of a campaign, whose runs have rows of each other by retry and re-import: each row counts once, as its last
 * run has it.
 */
export class CampaignTally {
  readonly #steps = new Map<string, StepTally>();

  /** Of a run the rows that no plan of the campaign has claimed. */
  async add(files: Files, run: RunRows, isCounted: ReturnType<typeof createIsCounted>): Promise<void> {
    for (const planned of run.plan.steps) {
      const step = run.plan.job.steps[planned.number - 1];
      if (step === undefined || !isRowStep(step)) continue;
      const tally = this.#stepOf(planned);
      const isRepeatable = kindOf(step).isRepeatable(step);
      const next = { planned: 0, rejected: 0, leftOut: 0 };
      const addRow = (row: RowLine) => {
        const group = groupOf(row);
        const index = group === undefined ? 0 : next[group]++;
        if (isCounted.elsewhere(planned, row) || (group !== undefined && isCounted.later(planned, group, index)))
          return;
        tally.balance.read += 1;
        if (row.state === 'planned') addPlanned(tally, run, { index, isRepeatable });
        else addRefused(tally, row);
      };
      for await (const batch of readRowBatches(files, run.directory, planned)) for (const row of batch) addRow(row);
    }
  }

  /** The figures of each step, in the form of a run's; `source`: that of a run, for what its rows do not say. */
  list(source: readonly StepSummary[]): StepSummary[] {
    return source.map((step) => {
      const tally = this.#steps.get(keyOf(step));
      return tally === undefined ? step : { ...step, ...describe(tally, step) };
    });
  }

  #stepOf({ number, kind }: PlannedStep): StepTally {
    const key = keyOf({ number, kind });
    const found = this.#steps.get(key);
    if (found !== undefined) return found;
    const counts = { rejections: new Map(), skips: new Map(), stages: new Map() };
    const made = {
      number,
      kind,
      balance: emptyBalance(),
      ...counts,
      reasons: { 'in-doubt': new Map(), unprocessed: new Map() },
    };
    this.#steps.set(key, made);
    return made;
  }
}

type Group = 'planned' | 'rejected' | 'leftOut';

/** Rows are claimed by their index among those of their group. */
function groupOf(row: RowLine): Group | undefined {
  if (row.state !== 'skipped') return row.state;
  return isLeftOutCode(row.skip.code) ? 'leftOut' : undefined;
}

/** Where a row of a plan counts, among the plans of a campaign. */
export function createIsCounted({ id }: Plan, claims: Claims, members: ReadonlySet<string>) {
  const isClaimed = (kind: string, { index, ...of }: RowId, isBy: (plan: string) => boolean) =>
    claims.listOf(kind, idStartOf(of)).some((claim) => isBy(claim.of.plan) && claim.has(index));
  return {
    /** With another plan, which has claimed it. */
    later: ({ number: step, kind }: PlannedStep, group: Group, index: number): boolean => {
      const leftOut = group === 'leftOut' ? { isLeftOut: true as const } : {};
      const row = { run: id, step, isPlanned: group === 'planned', ...leftOut, index };
      return isClaimed(kind, row, (plan) => members.has(plan));
    },
    /** With its own run: it came back, and this plan does not have it. */
    elsewhere: ({ kind }: PlannedStep, row: RowLine): boolean => {
      if (row.state === 'skipped' && row.skip.code === 'retried') return true;
      const own = row.from === undefined ? undefined : readRowId(row.from);
      return own !== undefined && members.has(own.run) && !isClaimed(kind, own, (plan) => plan === id);
    },
  };
}

function addPlanned(
  { number, balance, rejections, reasons }: StepTally,
  { rows }: RunRows,
  { index, isRepeatable }: { index: number; isRepeatable: boolean },
): void {
  const { status, code } = rows.standingOf(number, index, isRepeatable);
  if (status === 'accepted') balance.accepted += 1;
  else if (status === 'rejected') {
    balance.rejected += 1;
    increment(rejections, code);
  } else {
    const output = status === 'in-doubt' ? 'in-doubt' : 'unprocessed';
    balance[status === 'in-doubt' ? 'inDoubt' : 'unprocessed'] += 1;
    if (code !== '') increment(reasons[output], code);
  }
}

function addRefused(
  { balance, rejections, skips, stages }: StepTally,
  row: Exclude<RowLine, { state: 'planned' }>,
): void {
  balance[row.state] += 1;
  if (row.state === 'rejected') {
    increment(rejections, row.rejection.code);
    increment(stages, 'rejected');
    return;
  }
  const { code, reason } = row.skip;
  increment(skips, code);
  increment(stages, code === 'filtered' ? reason : code);
}

function describe(tally: StepTally, { funnel = [], reasons: known }: StepSummary): Partial<StepSummary> {
  const saidOf = new Map(known.map((reason) => [reason.code, reason]));
  const example = { file: '', path: '', line: 0, row: 0, field: '', value: '' };
  const reasons = (['in-doubt', 'unprocessed'] as const).flatMap((output) =>
    [...tally.reasons[output]].map(([code, rows]) => ({ said: '', example, ...saidOf.get(code), output, code, rows })),
  );
  return {
    balance: tally.balance,
    rejections: Object.fromEntries(tally.rejections),
    skips: Object.fromEntries(tally.skips),
    funnel: describeFunnel(tally, funnel),
    reasons,
  };
}

/** In the order of the first plan; what only a later one left out stands behind it. */
function describeFunnel(
  { balance, stages }: StepTally,
  first: readonly FunnelStage[],
): NonNullable<StepSummary['funnel']> {
  const keys = first.map(({ code, filter }) => (filter === undefined ? code : `filter: ${filter}`));
  const others = [...stages.keys()].filter((key) => !keys.includes(key));
  let left = balance.read;
  const ordered = [
    ...keys.filter((key) => key !== 'rejected'),
    ...others.filter((key) => key !== 'rejected'),
    'rejected',
  ];
  return ordered.map((key) => {
    const omitted = stages.get(key) ?? 0;
    left -= omitted;
    const filter = key.startsWith('filter: ') ? { filter: key.slice('filter: '.length) } : {};
    return { ...filter, code: 'filter' in filter ? 'filtered' : key, omitted, left };
  });
}

function keyOf({ number, kind }: { readonly number: number; readonly kind: string }): string {
  return `${number} ${kind}`;
}

function increment(counts: Counts, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
