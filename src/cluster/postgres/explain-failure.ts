import { InternalError, UserError, type UserErrorCode } from '../../domain/errors.js';
import { LeadLost, StoreLost } from '../store.js';
import { NOT_READ_COMMITTED } from './schema/life-functions.js';

/** Five characters, of which system errors (`EPIPE`) have no digit. */
const SQLSTATE = /^(?=\D*\d)[0-9A-Z]{5}$/;
/**
 * SQLSTATEs, or classes of them, after which the same call may succeed: on another connection, after a restart or a promotion, or
 * when others have let go of what they hold.
 */
const LOST = /^(08|25006|25P03|40001|40P01|53|55P03|57014|57P|58)/;
const LEAD_LOST = 'VL001';
const WRONG_PASSWORD = '28P01';

/** What a person must see to, by code and message. */
interface Refusal {
  readonly is: RegExp;
  readonly code: UserErrorCode;
  readonly what: string;
  readonly hint: string;
  /** A server that let this process in before is waited for: a secret may be changed, a server replaced. */
  readonly mayPass?: boolean;
}

const REFUSED: readonly Refusal[] = [
  {
    is: /^28/,
    code: 'bad-credentials',
    what: 'it refuses user or password',
    hint: "Check the URL, and the server's pg_hba.conf.",
    mayPass: true,
  },
  {
    is: /^3D000/,
    code: 'bad-credentials',
    what: 'it does not exist',
    hint: 'Create it, then run `volley cluster init`.',
    mayPass: true,
  },
  {
    is: /^42501/,
    code: 'bad-credentials',
    what: 'the role may not do this',
    hint: 'As the owner of the database, and of its schema `volley` if there is one, run `volley cluster init --role ROLE`.',
  },
  {
    is: /^(42883|42703|42P01|42P13) /,
    code: 'bad-flag',
    what: 'its schema `volley` is that of another build (CODE)',
    hint:
      'Stop leaders and workers, and run `volley cluster init`. If it says the same: when no run is in the database, ' +
      '`drop schema volley cascade`, then init again.',
  },
  {
    is: new RegExp(`^${NOT_READ_COMMITTED}`),
    code: 'unsafe-environment',
    what: 'its transactions are not read committed',
    hint: 'Look for default_transaction_isolation of the server, the database and the role, and reset it.',
  },
  {
    // An error of `pg`, which has no code.
    is: /^ The server does not support SSL connections/,
    code: 'bad-credentials',
    what: 'it has no TLS',
    hint: 'Beyond this machine a connection must be encrypted: turn on `ssl` in the server.',
    mayPass: true,
  },
  {
    // Errors of Node, where it refuses a certificate.
    is: /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/,
    code: 'bad-credentials',
    what: 'its TLS certificate is not accepted (CODE)',
    hint: 'Its certificate must be for the host in the URL; name its authority with `sslrootcert=/path/to/ca.crt`.',
    mayPass: true,
  },
];

/** Whose failure it is, for people. */
export interface FailedDatabase {
  /** `volley at db.example:5432 as volley_worker` */
  readonly name: string;
  readonly user: string | undefined;
  readonly wasReached: boolean;
  /** A refused password is waited for also where it was not: it may be changed just now. */
  readonly awaitsPassword: boolean;
}

/** Explains whatever `pg` threw. No message of it has a value or a password. */
export function explainFailure(error: unknown, { name, user, wasReached, awaitsPassword }: FailedDatabase): Error {
  if (error instanceof UserError || error instanceof StoreLost) return error;
  const { code = '', message = '' } = error as { readonly code?: string; readonly message?: string };
  if (code === LEAD_LOST) return new LeadLost('Another leader has taken over the run');
  const lose = (why: string) => new StoreLost(`${wasReached ? 'Lost' : 'Cannot reach'} the database ${name}: ${why}`);
  const refusal = REFUSED.find(({ is }) => is.test(`${code} ${message}`));
  if (refusal !== undefined) {
    const { mayPass = false } = refusal;
    const what = refusal.what.replace('CODE', code);
    if (wasReached ? mayPass : awaitsPassword && code === WRONG_PASSWORD) return lose(what);
    const hint = refusal.hint.replace('ROLE', user ?? 'ROLE');
    return new UserError(refusal.code, `Cannot use the database ${name}: ${what}`, { hint });
  }
  if (!SQLSTATE.test(code)) return lose(code === '' ? message : code);
  if (LOST.test(code)) return lose(message);
  return new InternalError('unexpected', `The database refused a statement of Volley (${code}): ${message}`);
}
