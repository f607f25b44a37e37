import { z } from 'zod';
import { countOf, format } from '../domain/count-of.js';
import type { Balance } from '../domain/row.js';
import { NUMBER_CODES } from '../domain/row-codes.js';
import type { StepCostSummary } from '../prices/accepted-cost.js';
import type { Billed } from '../prices/billed-tally.js';

const count = z.number().int().nonnegative();

const balance = z.strictObject({
  read: count,
  accepted: count,
  rejected: count,
  skipped: count,
  inDoubt: count,
  unprocessed: count,
}) satisfies z.ZodType<Balance>;

const counts = z.record(z.string(), count);

const stepCost = z.strictObject({
  planned: z.string(),
  accepted: z.string(),
  /** Accepted rows without a price. */
  withoutPrice: count,
}) satisfies z.ZodType<StepCostSummary>;

/** By receipts: what messages cost, against what the plan said of the same messages. */
const billed = z.strictObject({
  /** With a receipt. */
  messages: count,
  /** With a receipt that names a price. */
  priced: count,
  /** By currency. */
  amounts: z.record(z.string(), z.string()),
  /** By the price list; null without one. */
  forecast: z.string().nullable(),
  /** Of the messages whose receipt names its parts. */
  parts: count,
  plannedParts: count,
}) satisfies z.ZodType<Billed>;

/** The figures of a run: `summary.json`, and what `run` and `apply` print on stdout. */
export const summarySchema = z.strictObject({
  format: z.literal(1),
  /** The build that wrote it; absent in those of earlier ones. */
  program: z
    .strictObject({
      version: z.string(),
      revision: z.string(),
      formats: z.strictObject({ plan: count, packed: count.optional(), journal: count, memory: count }),
    })
    .optional(),
  job: z.string(),
  plan: z.string(),
  /** Id of the run whose rows it retries; null where it has rows of its own. */
  retryOf: z.string().nullable(),
  /** Of a test: id of the plan that it tested, null where it tested the job file; and how many numbers it went to. Absent for a run. */
  testOf: z.strictObject({ plan: z.string().nullable(), numbers: count }).optional(),
  /** Absolute path of the run directory. */
  directory: z.string(),
  /** Absolute path of the `memory` of its job; absent where the job names none. */
  memory: z.string().optional(),
  state: z.enum(['planned', 'unfinished', 'stopped', 'finished']),
  /** Why it stopped early; null unless `stopped`. */
  stop: z.strictObject({ reason: z.string(), detail: z.string() }).nullable(),
  startedAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
  /** When a cancel last took messages back; absent where none did. */
  takenBackAt: z.iso.datetime().optional(),
  exitCode: count,
  balance,
  /** Of `balance.inDoubt`: rows that are with workers of a database, until the same command finds out what came of them. Absent without any. */
  withWorkers: count.optional(),
  /** Of those it was sent to, how many opted out since, by the job's lists that Volley writes; absent without any. */
  optedOutSince: count.optional(),
  /** Messages by the state of their newest delivery receipt; null for a run without a receipts file. */
  deliveries: counts.nullable(),
  /** Absent for a job without prices. */
  cost: z
    .strictObject({
      currency: z.string(),
      file: z.string(),
      sha256: z.string(),
      planned: z.string(),
      accepted: z.string(),
    })
    .optional(),
  /** Absent where no receipt names a price or parts. */
  billed: billed.optional(),
  steps: z.array(
    z.strictObject({
      number: count,
      kind: z.string(),
      balance,
      inputs: z.array(z.strictObject({ file: z.string(), rows: count, sha256: z.string() })),
      requests: z.strictObject({ planned: count, settled: count }),
      messages: count,
      segments: count,
      /** When the service is to send its messages; absent where it sends them at once. */
      scheduled: z.strictObject({ at: z.string(), timeZone: z.string().optional() }).optional(),
      /** Rows of each stage, how many stages have passed, and which waits for a person; absent where it sends all at once. */
      stages: z
        .strictObject({
          rows: z.array(count),
          passed: count,
          waiting: z.strictObject({ number: count, why: z.string() }).nullable(),
        })
        .optional(),
      /** By the price list; absent where its rows have no prices. */
      cost: stepCost.optional(),
      billed: billed.optional(),
      /** Rows by code, of the plan and of the service together. */
      rejections: counts,
      skips: counts,
      /** Of the unprocessed rows those that were withheld right before they would have been sent, by code; absent where none was. */
      withheld: counts.optional(),
      /** Rows whose number had their text already, by the run that they had it from; see `HadFigures` of a plan. Absent where there is none. */
      had: z
        .strictObject({
          rule: z.enum(['hold', 'skip', 'send']),
          runs: z.array(z.strictObject({ run: z.string(), job: z.string(), at: z.iso.datetime(), rows: count })),
        })
        .optional(),
      /** As in the plan: how many rows were left after each condition of `where`, and after all that it skipped or rejected for another reason. Absent for a step without rows. */
      funnel: z
        .array(
          z.strictObject({
            filter: z.string().optional(),
            code: z.string(),
            omitted: count,
            left: count,
            values: z.array(z.strictObject({ value: z.string(), rows: count })).optional(),
            warning: z.string().optional(),
          }),
        )
        .optional(),
      /** What each suppression list did, in its numbers; see `SuppressionInput` of a plan. Absent for a step without lists. */
      suppression: z
        .array(
          z.strictObject({
            file: z.string(),
            columns: z.array(z.string()),
            read: count,
            found: count,
            notFound: count,
            withoutPlus: count,
            readAs: z.string().nullable(),
            ambiguous: count,
          }),
        )
        .optional(),
      /** The three commonest reasons of each output, with the first row of each; numbers are masked. */
      reasons: z.array(
        z.strictObject({
          output: z.enum(['rejections', 'in-doubt', 'unprocessed']),
          code: z.string(),
          rows: count,
          said: z.string(),
          example: z.strictObject({
            file: z.string(),
            path: z.string(),
            line: count,
            row: count,
            field: z.string(),
            value: z.string(),
          }),
        }),
      ),
      /** Names of the step's output files in the run directory. */
      files: z.partialRecord(z.enum(['results', 'rejections', 'skipped', 'in-doubt', 'unprocessed']), z.string()),
      /** The outcome of a step without rows; null if it has rows, or has not run. */
      action: z
        .strictObject({ status: z.enum(['accepted', 'rejected', 'in-doubt']), code: z.string(), reason: z.string() })
        .nullable(),
    }),
  ),
});

export type Summary = z.infer<typeof summarySchema>;
export type StepSummary = Summary['steps'][number];

/** A run of a job that has rows in doubt. */
export interface RunInDoubt {
  /** Id of its plan. */
  readonly run: string;
  readonly directory: string;
  /** Rows; null if the run cannot be read, so that it may have some. */
  readonly inDoubt: number | null;
}

/** The rows in doubt of a job: every account names them until they are settled. */
export interface OpenDoubt {
  /** In all runs that can be read. */
  readonly rows: number;
  /** In the order of their names. */
  readonly runs: readonly RunInDoubt[];
}

export function emptyBalance(): Balance {
  return { read: 0, accepted: 0, rejected: 0, skipped: 0, inDoubt: 0, unprocessed: 0 };
}

/** Promise 3; callers treat false as an internal error. */
export function isBalanced(balance: Balance): boolean {
  const { read, accepted, rejected, skipped, inDoubt, unprocessed } = balance;
  return read === accepted + rejected + skipped + inDoubt + unprocessed;
}

/** `18 of 447 numbers could not be used`: of the audience, the rows that were not skipped. Undefined where all could be. */
export function describeRejected({ balance, steps }: Pick<Summary, 'balance' | 'steps'>): string | undefined {
  const { read, skipped, rejected } = balance;
  if (rejected === 0) return undefined;
  const codes = steps.flatMap(({ rejections }) => Object.keys(rejections));
  const isOfNumbers = codes.length > 0 && codes.every((code) => Object.hasOwn(NUMBER_CODES, code) || code === '1002');
  return `${format(rejected)} of ${countOf(read - skipped, isOfNumbers ? 'number' : 'row')} could not be used`;
}

/** Messages with a final receipt: a newest state that is not final counts as neither. */
export function sumDeliveries(deliveries: Readonly<Record<string, number>>): { delivered: number; failed: number } {
  const sum = (states: readonly string[]) => states.reduce((total, state) => total + (deliveries[state] ?? 0), 0);
  return { delivered: sum(['delivered', 'read']), failed: sum(['undelivered', 'rejected']) };
}

/** Rows that a cancel took back, and that no other plan has claimed since. */
export function countTakenBack({ steps }: { readonly steps: readonly Pick<StepSummary, 'reasons'>[] }): number {
  const reasons = steps.flatMap((step) => step.reasons.filter(({ code }) => code === 'cancelled'));
  return reasons.reduce((sum, { rows }) => sum + rows, 0);
}

/** Rows whose recipients opted out once they were planned, or that came too late. */
export function countWithheld(
  { steps }: { readonly steps: readonly Pick<StepSummary, 'withheld'>[] },
  code: 'opted-out' | 'too-late' | 'had-it-already' | 'too-often',
): number {
  return steps.reduce((sum, { withheld = {} }) => sum + (withheld[code] ?? 0), 0);
}

export function addBalances(balances: readonly Balance[]): Balance {
  const total = emptyBalance();
  for (const each of balances) {
    for (const key of Object.keys(total) as (keyof Balance)[]) total[key] += each[key];
  }
  return total;
}
