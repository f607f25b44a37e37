import { addCounts, countOf, format, sumOf } from '../domain/count-of.js';
import type { PROGRAM } from '../domain/program.js';
import type { Balance, Verdict } from '../domain/row.js';
import { type NotSentCode, NUMBER_CODES } from '../domain/row-codes.js';
import type { StatedTime } from '../domain/stated-time.js';
import type { Stop } from '../journal/entry-format.js';
import type { RunStatus } from '../journal/replay.js';
import type { FunnelStage, HadFigures, SuppressionInput, TestOf } from '../plan/format/plan-file.js';
import type { Reason } from '../plan/reasons.js';
import type { HeldRows } from '../plan/tally.js';
import type { Billed, StepCostSummary } from '../prices/billed-tally.js';
import type { ExplainedOutput, Output } from './outputs.js';

type Counts = Record<string, number>;

/** The figures of a run: `summary.json`, and what `run` and `apply` print on stdout. */
export interface Summary {
  readonly format: 1;
  /** The build that wrote it. */
  readonly program?: typeof PROGRAM | undefined;
  readonly job: string;
  readonly plan: string;
  /** Id of the run whose rows it retries; null where it has rows of its own. */
  readonly retryOf: string | null;
  /** What a test tested: the id of a plan, null for the job file; and how many numbers it went to. Absent for a run. */
  readonly testOf?: Pick<TestOf, 'plan' | 'numbers'> | undefined;
  /** Absolute path of the run directory. */
  readonly directory: string;
  /** Absolute path of the `memory` of its job; absent where the job names none. */
  readonly memory?: string | undefined;
  readonly state: RunStatus;
  /** Why it stopped early; null unless `stopped`. */
  readonly stop: Stop | null;
  /** ISO 8601, as are all times here. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** When a cancel last took messages back; absent where none did. */
  readonly takenBackAt?: string | undefined;
  readonly exitCode: number;
  readonly balance: Balance;
  /** How many of `balance.inDoubt` are with workers of a database: the same command finds out what came of them. Absent without any. */
  readonly withWorkers?: number | undefined;
  /** How many of those it was sent to opted out since, by the job's lists that Volley writes; absent without any. */
  readonly optedOutSince?: number | undefined;
  /** Messages by the state of their newest delivery receipt; null for a run without a receipts file. */
  readonly deliveries: Readonly<Counts> | null;
  /** Absent for a job without prices. */
  readonly cost?: Readonly<Record<'currency' | 'file' | 'sha256' | 'planned' | 'accepted', string>> | undefined;
  /** Absent where no receipt names a price or parts. */
  readonly billed?: Billed | undefined;
  /** Rows that it held and that plans of `volley retry` have; absent without any. */
  readonly retriedHeld?: HeldRows | undefined;
  readonly steps: StepSummary[];
}

export interface StepSummary {
  readonly number: number;
  readonly kind: string;
  readonly balance: Balance;
  readonly inputs: readonly { readonly file: string; readonly rows: number; readonly sha256: string }[];
  readonly requests: { readonly planned: number; readonly settled: number };
  readonly messages: number;
  readonly segments: number;
  /** When the service is to send its messages; absent where it sends them at once. */
  readonly scheduled?: StatedTime | undefined;
  /** Rows of each stage, how many stages have passed, and which waits for a person; absent where it sends all at once. */
  readonly stages?:
    | {
        readonly rows: readonly number[];
        readonly passed: number;
        readonly waiting: { readonly number: number; readonly why: string } | null;
      }
    | undefined;
  /** By the price list; absent where its rows have no prices. */
  readonly cost?: StepCostSummary | undefined;
  readonly billed?: Billed | undefined;
  /** Rows by code, of the plan and of the service together. */
  readonly rejections: Readonly<Counts>;
  readonly skips: Readonly<Counts>;
  /** Rows in doubt by code; absent where there are none. */
  readonly doubts?: Readonly<Counts> | undefined;
  /** Unprocessed rows that their run does not send, by code; absent where there are none. */
  readonly notSent?: Readonly<Counts> | undefined;
  /** Rows whose number had their text already, by the run that they had it from. Absent where there is none. */
  readonly had?: HadFigures | undefined;
  /** As in the plan. Absent for a step without rows. */
  readonly funnel?: readonly FunnelStage[] | undefined;
  /** What each suppression list did, in its numbers. Absent for a step without lists. */
  readonly suppression?: readonly Omit<SuppressionInput, 'path' | 'sha256'>[] | undefined;
  /** The three commonest reasons of each output, with the first row of each; numbers are masked. */
  readonly reasons: readonly (Reason & { readonly output: ExplainedOutput })[];
  /** Names of the step's output files in the run directory. */
  readonly files: Partial<Record<Output, string>>;
  /** The outcome of a step without rows; null if it has rows, or has not run. */
  readonly action: { readonly status: Verdict['status']; readonly code: string; readonly reason: string } | null;
}

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

/** `18 of 447 numbers could not be used`: of the audience, the rows that were not skipped. Undefined where all could be. */
export function describeRejected({ balance, steps }: Pick<Summary, 'balance' | 'steps'>): string | undefined {
  const { read, skipped, rejected } = balance;
  if (rejected === 0) return undefined;
  const codes = steps.flatMap(({ rejections }) => Object.keys(rejections));
  const isOfNumbers = codes.length > 0 && codes.every((code) => Object.hasOwn(NUMBER_CODES, code) || code === '1002');
  return `${format(rejected)} of ${countOf(read - skipped, isOfNumbers ? 'number' : 'row')} could not be used`;
}

/** Rows that their run does not send, for one of these reasons, and that no other plan has claimed since. */
export function countNotSent(
  { steps }: { readonly steps: readonly Pick<StepSummary, 'notSent'>[] },
  ...codes: readonly NotSentCode[]
): number {
  return sumOf(steps.flatMap(({ notSent = {} }) => codes.map((code) => notSent[code] ?? 0)));
}

/** What a person let go: rows that were taken back, or decided not to have been sent. */
export const LET_GO = ['cancelled', 'assumed-not-sent'] as const satisfies readonly NotSentCode[];

/** Rows that their run never sends, and that no list or other run kept from it. */
export function countUnsent(summary: Pick<Summary, 'balance' | 'steps'>): number {
  return summary.balance.unprocessed - countNotSent(summary, 'opted-out', 'had-it-already', 'too-often');
}

/** What `volley retry --only` takes first of the rows that a run never sends: those that no person let go. */
export function nameUnsent(summary: Pick<Summary, 'balance' | 'steps'>): 'unprocessed' | 'not-sent' {
  return countUnsent(summary) > countNotSent(summary, ...LET_GO) ? 'unprocessed' : 'not-sent';
}

export function addBalances(balances: readonly Balance[]): Balance {
  return { ...emptyBalance(), ...addCounts(balances) };
}
