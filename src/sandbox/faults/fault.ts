import { z } from 'zod';
import { AREAS } from '../../domain/areas.js';
import { UserError } from '../../domain/errors.js';

/**
 * The faults of the sandbox by when they happen. `delay`: before anything else. `before`: in the place of processing,
 * so that nothing is accepted; so is `status-<code>`, any from 200 to 599. `rows`: some rows are refused. `after`:
 * what was accepted stays in the ledger, whatever answer leaves.
 */
const PHASE_OF_KIND = {
  latency: 'delay',
  'reset-before': 'before',
  'close-before': 'before',
  stall: 'before',
  'reject-rows': 'rows',
  'internal-rows': 'rows',
  'strict-numbers': 'rows',
  'status-after': 'after',
  'reset-after': 'after',
  'close-after': 'after',
  'stall-after': 'after',
  truncated: 'after',
  empty: 'after',
  html: 'after',
  partial: 'after',
  foreign: 'after',
  repeated: 'after',
  'null-messages': 'after',
  'wrong-count': 'after',
} as const;

export type Phase = (typeof PHASE_OF_KIND)[NamedKind];
type NamedKind = keyof typeof PHASE_OF_KIND;
type StatusKind = `status-${number}`;
export type FaultKind = NamedKind | StatusKind;

/** Ways in which a 2xx body can be well formed and yet wrong. */
const DISTORTIONS = ['partial', 'foreign', 'repeated', 'null-messages', 'wrong-count'] as const satisfies NamedKind[];
export type Distortion = (typeof DISTORTIONS)[number];

/** Kinds by name; beside them stands `status-<code>`. */
export const FAULT_KINDS = Object.keys(PHASE_OF_KIND) as NamedKind[];

const STATUS_KIND = /^status-([2-5]\d\d)$/;

const kindSchema = z.custom<FaultKind>(
  (value) => typeof value === 'string' && (Object.hasOwn(PHASE_OF_KIND, value) || STATUS_KIND.test(value)),
  `expected status-<200 to 599> or one of ${FAULT_KINDS.join(', ')}`,
);

const faultSchema = z.strictObject({
  kind: kindSchema,
  /** The area; all by default. */
  area: z.enum(AREAS).optional(),
  /** Share of the requests, 0 to 1. */
  rate: z.number().min(0).max(1).default(1),
  seed: z.int().default(1),
  /** At most so many times. */
  times: z.int().min(0).optional(),
  /** Only these requests of the area, counted from 1 since the faults were set. */
  nth: z.union([z.int().min(1), z.array(z.int().min(1))]).optional(),
  /** Only requests with a number that ends so; for faults of rows, exactly those rows. */
  endingWith: z
    .string()
    .regex(/^\d{1,15}$/, 'expected 1 to 15 digits')
    .optional(),
  /** Share of the rows, 0 to 1; at least one row unless it is 0. */
  rows: z.number().min(0).max(1).default(0.25),
  /** Milliseconds, for latency. */
  delayMs: z.number().min(0).max(600_000).default(100),
  /** Seconds, for status-429 and status-503. */
  retryAfter: z.int().min(0).max(86_400).default(1),
  retryAfterForm: z.enum(['seconds', 'date', 'none']).default('seconds'),
  /** For status-3xx; by default a path of the sandbox that nothing answers. */
  location: z.string().optional(),
  /** For status-after. */
  status: z.int().min(200).max(599).default(500),
  /** For reject-rows: what the row's status says. */
  description: z.string().default('Invalid MSISDN format (not E.164 international number)'),
});

/** A fault as it is written: everything but `kind` is optional. */
export type FaultInput = z.input<typeof faultSchema>;
export type SandboxFault = z.output<typeof faultSchema>;

const faultsSchema = z.preprocess((value) => (Array.isArray(value) ? value : [value]), z.array(faultSchema));

/** Reads one fault or a list of them; throws a UserError with all problems. */
export function parseFaults(written: unknown): SandboxFault[] {
  const parsed = faultsSchema.safeParse(written);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => ({ where: `faults[${path.join('.')}]`, message }));
  const list = problems.map(({ where, message }) => `${where}: ${message}`).join('; ');
  throw new UserError('bad-flag', `Cannot set faults: ${list}`, {
    problems,
    hint: 'src/sandbox/README.md lists the kinds and their parameters.',
  });
}

export function phaseOf(kind: FaultKind): Phase {
  return isNamed(kind) ? PHASE_OF_KIND[kind] : 'before';
}

/** Undefined for a kind that is not `status-<code>`. */
export function statusOf(kind: FaultKind): number | undefined {
  const code = STATUS_KIND.exec(kind)?.[1];
  return code === undefined ? undefined : Number(code);
}

export function isDistortion(kind: FaultKind): kind is Distortion {
  return DISTORTIONS.some((distortion) => distortion === kind);
}

function isNamed(kind: FaultKind): kind is NamedKind {
  return Object.hasOwn(PHASE_OF_KIND, kind);
}
