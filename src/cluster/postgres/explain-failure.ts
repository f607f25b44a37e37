import { InternalError, UserError } from '../../domain/errors.js';
import { LeadLost, StoreLost } from '../store.js';
import { NOT_READ_COMMITTED } from './schema/life-functions.js';

/**
 * SQLSTATEs, or classes of them, after which the same call may succeed: on another connection, after a restart or a promotion, or
 * when others have let go of what they hold.
 */
const LOST: Readonly<Record<string, string>> = {
  '08': 'the connection broke',
  '25006': 'the server is a standby, or read-only',
  '25P03': 'the server closed a transaction that waited too long',
  '40001': 'the transaction met another one',
  '40P01': 'the transaction met another one',
  '53': 'the server is out of connections, memory or disk',
  '55P03': 'another connection holds a lock for too long',
  '57014': 'the server took too long',
  '57P': 'the server shuts down or starts',
  '58': 'the disk of the server fails',
};

const NO_RIGHT = '42501';
const WRONG_PASSWORD = '28P01';

/** Those that a person must see to. */
const REFUSED: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  '28': ['it refuses user or password', "Check the URL, and the server's pg_hba.conf."],
  '3D000': ['it does not exist', 'Create it, then run `volley cluster init`.'],
  [NO_RIGHT]: ['the role may not do this', 'As the owner of the database run `volley cluster init --role ROLE`.'],
};

/** Of Node, on the way to the server. */
const ON_THE_WAY: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection broke',
  EPIPE: 'the connection broke',
  ENOTFOUND: 'no host has this name',
  EAI_AGAIN: 'the name of its host cannot be looked up',
  ENOENT: 'there is no such socket',
  EACCES: 'this user may not open its socket',
};

/** A function, column or table is not there, or is another. */
const OTHER_SCHEMA: ReadonlySet<string> = new Set(['42883', '42703', '42P01', '42P13']);

const LEAD_LOST = 'VL001';
/** Of Node, where it refuses a certificate. */
const TLS_CODES = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;
/** Of `pg`, without a code. */
const NO_TLS = 'The server does not support SSL connections';

/** Whose failure it is, for people. */
export interface FailedDatabase {
  /** `volley at db.example:5432 as volley_worker` */
  readonly name: string;
  readonly user: string | undefined;
  /** This process was connected to it before. */
  readonly wasReached: boolean;
  /** A refused password is waited for also where it was not: it may be changed just now. */
  readonly awaitsPassword: boolean;
}

/** Of whatever `pg` threw. No message of it has a value or a password. */
export function explainFailure(error: unknown, { name, user, wasReached, awaitsPassword }: FailedDatabase): Error {
  if (error instanceof UserError || error instanceof StoreLost) return error;
  const code = codeOf(error);
  if (code === LEAD_LOST) return new LeadLost('Another leader has taken over the run');
  if (code === NOT_READ_COMMITTED) {
    return new UserError(
      'unsafe-environment',
      `Cannot use the database ${name}: its transactions are not read committed`,
      {
        hint: 'Look for default_transaction_isolation of the server, the database and the role, and reset it.',
      },
    );
  }
  const lose = (why: string) => new StoreLost(`${wasReached ? 'Lost' : 'Cannot reach'} the database ${name}: ${why}`);
  const refusal = explainRefusal(error, code);
  if (refusal !== undefined) {
    // It let this process in before: a secret may be changed, a server replaced. That is waited for.
    const isAwaited = wasReached
      ? refusal.code === 'bad-credentials' && code !== NO_RIGHT
      : awaitsPassword && code === WRONG_PASSWORD;
    if (isAwaited) return lose(refusal.what);
    const hint = user === undefined ? refusal.hint : refusal.hint.replace('ROLE', user);
    return new UserError(refusal.code, `Cannot use the database ${name}: ${refusal.what}`, { hint });
  }
  const lost = find(LOST, code);
  if (lost === undefined && isSqlState(code)) {
    return new InternalError('unexpected', `The database refused a statement of Volley (${code}): ${messageOf(error)}`);
  }
  return lose(lost ?? ON_THE_WAY[code] ?? (code === '' ? 'the connection broke or took too long' : code));
}

/** What a person must see to before it works. */
function explainRefusal(
  error: unknown,
  code: string,
): { code: 'bad-credentials' | 'bad-flag'; what: string; hint: string } | undefined {
  const refused = find(REFUSED, code);
  if (refused !== undefined) return { code: 'bad-credentials', what: refused[0], hint: refused[1] };
  if (OTHER_SCHEMA.has(code)) {
    return {
      code: 'bad-flag',
      what: `its schema \`volley\` is that of another build (${code})`,
      hint:
        'Stop leaders and workers, and run `volley cluster init`. If it says the same: when no run is in the database, ' +
        '`drop schema volley cascade`, then init again.',
    };
  }
  if (messageOf(error) === NO_TLS) {
    return {
      code: 'bad-credentials',
      what: 'it has no TLS',
      hint: 'Beyond this machine a connection must be encrypted: turn on `ssl` in the server.',
    };
  }
  if (!TLS_CODES.test(code)) return undefined;
  return {
    code: 'bad-credentials',
    what: `its TLS certificate is not accepted (${code})`,
    hint: 'Its certificate must be for the host in the URL; name its authority with `sslrootcert=/path/to/ca.crt`.',
  };
}

function find<T>(table: Readonly<Record<string, T>>, code: string): T | undefined {
  if (!isSqlState(code)) return undefined;
  return table[code] ?? table[code.slice(0, 3)] ?? table[code.slice(0, 2)];
}

/** Five characters, of which system errors (`EPIPE`) have no digit. */
function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code);
}

function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
