/**
 * The three kinds of thrown error, and every code they can carry, with its meaning.
 * Bad rows and bad answers are data (row.ts), never thrown.
 */

/** A person's input or action that Volley cannot work with. Exit code 2, save where a command says otherwise. */
export const USER_ERRORS = {
  'bad-flag': 'a flag or argument is wrong',
  'bad-job': 'the job file cannot be used',
  'which-column': '`init` cannot say which column holds what to send to',
  'bad-input': 'input, or another file that you named, cannot be used',
  'missing-input': 'an export that the job requires did not come, has no row, or is too old',
  'bad-credentials': 'a secret is missing or unusable',
  'bad-plan': 'the plan or run cannot be used for this',
  'input-changed': 'an input file changed since it was planned',
  'plan-mismatch': '`--confirm` names another plan, or another number',
  'not-confirmed': 'the person at the terminal did not confirm what would be sent',
  'plan-damaged': 'a file of the plan is missing or changed',
  'registry-mismatch': 'the output directory was copied, put back from a backup, cut, or taken away in mid-run',
  guard: 'a guard of the job stopped it',
  'lock-held': 'another process works on the job',
  interrupted: 'a signal arrived',
  'not-yet': '`notBefore` of the job lies ahead',
  'unsafe-environment': 'the environment would expose secrets or numbers',
} as const;

/** A single call that failed at the service or on its way there. */
export const SERVICE_ERRORS = {
  unauthorized: 'the service answered 401 or 403',
  redirected: 'the service answered with a redirect',
  unavailable: 'the service is down',
  refused: 'the service refused something that every row relies on',
  'in-doubt': 'sent, and no answer says what became of it',
  'bad-answer': 'the answer is not what was asked for',
} as const;

/** What is at fault where a run stops or a call fails, as far as a person can do something about it: it decides the advice. */
export type StopFault =
  /** Nothing took the connection. */
  | 'unreachable'
  /** The certificate is not valid by the clock of this machine. */
  | 'certificate-time'
  /** No authority that this machine trusts has signed the certificate. */
  | 'certificate-authority'
  /** No secure connection, or one to another host. */
  | 'secure-connection'
  /** The answer is not the service's: of a proxy, a load balancer, or a wrong address. */
  | 'in-between'
  /** The service minds a setting that the whole `service` of the job has, not one of the step. */
  | 'service-setting'
  /** A time of the step has passed, which its plan keeps. */
  | 'time-passed'
  /** What was created before the first request may exist, and its id is unknown. */
  | 'unknown-id'
  /** A change may have been made, and nothing says so. */
  | 'unclear'
  /** Receipts count for the stage, and may still come. */
  | 'needs-receipts';

/** A broken guarantee of Volley. Always a bug, or a failing disk. */
export const INTERNAL_ERRORS = {
  unbalanced: 'the rows do not add up: an error of Volley',
  'journal-damaged': 'the journal is damaged',
  'write-failed': 'the disk did not take a write',
  unexpected: 'an error of Volley',
} as const;

export type UserErrorCode = keyof typeof USER_ERRORS;
export type ServiceErrorCode = keyof typeof SERVICE_ERRORS;
export type InternalErrorCode = keyof typeof INTERNAL_ERRORS;

/** One problem among several: where it is, what it is, and what to do about it. */
export interface Problem {
  /** File, with line and column where they are known: `jobs/sale.yaml:12:3`. */
  readonly where: string;
  /** Path of keys to a part of the job, as long as its line is unknown. */
  readonly at?: readonly (string | number)[];
  /** The key of the job that it is about: `steps[0].input.files`. */
  readonly key?: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Carries every problem found at once; `message` alone must make sense on one line. */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly code: UserErrorCode;
  readonly hint: string | undefined;
  readonly problems: readonly Problem[];
  /** It struck in a run that had begun. */
  isInRun: boolean;

  constructor(
    code: UserErrorCode,
    message: string,
    more: { hint?: string | undefined; problems?: readonly Problem[]; isInRun?: boolean } = {},
  ) {
    super(message);
    this.code = code;
    this.hint = more.hint;
    this.problems = more.problems ?? [];
    this.isInRun = more.isInRun ?? false;
  }
}

/** For `catch`: undefined in the place of what a person can do something about; any other error is thrown on. */
export function undefinedOnUserError(error: unknown): undefined {
  if (!(error instanceof UserError)) throw error;
}

export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ServiceErrorCode;
  readonly hint: string | undefined;
  /** HTTP status; undefined where no answer came. */
  readonly status: number | undefined;
  /** The service's own code for a call that it refused, such as `1002`, or `http-<status>` where it gave none. */
  readonly serviceCode: string | undefined;
  readonly fault: StopFault | undefined;

  constructor(
    code: ServiceErrorCode,
    message: string,
    more: { hint?: string; status?: number; serviceCode?: string; fault?: StopFault | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.hint = more.hint;
    this.status = more.status;
    this.serviceCode = more.serviceCode;
    this.fault = more.fault;
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

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A word of a command as a shell takes it: in quotes where it has a blank or a sign of the shell. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The functions of `target`, and of what it opens. Errors of the system have the path, which it names only of what it opens, and their own code. */
export function namingErrors<T extends object>(target: T, path = ''): T {
  const get = (_: T, key: string) => {
    const value = Reflect.get(target, key);
    if (typeof value !== 'function') return value;
    return async (...args: readonly unknown[]) => {
      const named = path === '' ? String(args[0]) : path;
      try {
        const found = await value.apply(target, args);
        return key === 'open' ? namingErrors(found, named) : found;
      } catch (error) {
        if (!(error instanceof Error && 'syscall' in error && 'code' in error)) throw error;
        throw Object.assign(error, { path: named, ...error, code: nameCode(error.code) });
      }
    };
  };
  return new Proxy(target, { get });
}

/** Errors of Linux that Node does not name, of quotas, network disks and damaged ones: as it calls them, their codes, and what the system says. */
export const UNNAMED_ERRORS: Readonly<Record<string, readonly [code: string, words: string]>> = {
  'Unknown system error -74': ['EBADMSG', 'bad message'],
  'Unknown system error -116': ['ESTALE', 'stale file handle'],
  'Unknown system error -117': ['EUCLEAN', 'structure needs cleaning'],
  'Unknown system error -122': ['EDQUOT', 'disk quota exceeded'],
};

export function nameCode(code: unknown): string {
  return UNNAMED_ERRORS[String(code)]?.[0] ?? String(code);
}
