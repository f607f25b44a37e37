/**
 * The three kinds of thrown error, and every code they can carry.
 * Bad rows and bad answers are data (`Rejection`, `Outcome` in domain.ts), never thrown.
 */

/** A person's input or action that Volley cannot work with. Exit code 2, save where a command says otherwise. */
export type UserErrorCode =
  | 'bad-flag'
  | 'bad-job'
  | 'bad-input'
  | 'bad-credentials'
  | 'bad-plan'
  | 'input-changed'
  | 'plan-mismatch'
  /** A file of a plan is gone or was changed. */
  | 'plan-damaged'
  /** The job's directory does not match its registry: copied, restored, or cut. */
  | 'registry-mismatch'
  | 'guard'
  | 'lock-held'
  | 'interrupted'
  | 'unsafe-environment';

/** A single call that failed at the service or on its way there. */
export type ServiceErrorCode =
  | 'unauthorized'
  | 'redirected'
  | 'unavailable'
  /** The service said no: `serviceCode` and the message are its own. */
  | 'refused'
  /** Sent, and no answer says what became of it. */
  | 'in-doubt'
  /** An answer that is not what was asked for. */
  | 'bad-answer';

/** A broken guarantee of Volley. Always a bug, or a failing disk. */
export type InternalErrorCode = 'unbalanced' | 'journal-damaged' | 'write-failed' | 'unexpected';

/** One problem among several: where it is, what it is, and what to do about it. */
export interface Problem {
  /** File, with line and column where they are known: `jobs/sale.yaml:12:3`. */
  readonly where: string;
  /** Path of keys to a part of the job, as long as its line is unknown. */
  readonly at?: readonly (string | number)[];
  readonly message: string;
  readonly hint?: string;
}

/** Carries every problem found at once; `message` alone must make sense on one line. */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly code: UserErrorCode;
  readonly hint: string | undefined;
  readonly problems: readonly Problem[];

  constructor(code: UserErrorCode, message: string, more: { hint?: string; problems?: readonly Problem[] } = {}) {
    super(message);
    this.code = code;
    this.hint = more.hint;
    this.problems = more.problems ?? [];
  }
}

export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ServiceErrorCode;
  readonly hint: string | undefined;
  /** HTTP status; undefined where no answer came. */
  readonly status: number | undefined;
  /** The service's own code, such as `1002`; `http-<status>` where it gave none. */
  readonly serviceCode: string | undefined;

  constructor(
    code: ServiceErrorCode,
    message: string,
    more: { hint?: string; status?: number; serviceCode?: string } = {},
  ) {
    super(message);
    this.code = code;
    this.hint = more.hint;
    this.status = more.status;
    this.serviceCode = more.serviceCode;
  }
}

export class InternalError extends Error {
  override readonly name = 'InternalError';
  readonly code: InternalErrorCode;

  constructor(code: InternalErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
