import { UserError } from '../domain/errors.js';
import { isLoopback } from '../domain/loopback.js';
import { isRowStep, type SecretSource } from '../job/job.js';
import { findBaseFault, isServiceOrigin, normalizeBase } from '../job/service-address.js';
import { areasOf } from '../kinds/kinds.js';
import type { WorkerJob } from './worker-job.js';

/**
 * Who may write to the database says where runs send, and which secrets they read. So a worker sends to the service and to its own
 * machine, and reads variables that are meant for Volley; all else must be allowed where the worker is started.
 */
export interface WorkerTrust {
  /** Allowed beside those: `https://sms-proxy.example.com`. */
  readonly origins: readonly string[];
  /** Allowed beside those: names of variables, and absolute paths of files. */
  readonly secrets: readonly string[];
  /** Where the worker's own address of the database is: never a secret of a run. */
  readonly database: SecretSource;
}

const OWN_VARIABLE = /^VOLLEY_/;

/** Refuses, with UserError 'bad-flag', what is not the origin of an address. */
export function readTrust(flags: {
  readonly allowUrls: readonly string[];
  readonly allowSecrets: readonly string[];
  readonly database: SecretSource;
}): WorkerTrust {
  const origins = flags.allowUrls.map((text) => {
    const fault = findBaseFault(text);
    const { origin = '' } = fault === undefined ? new URL(text) : {};
    if (fault === undefined && normalizeBase(text) === origin) return origin;
    const expected = fault ?? 'expected an address without a path';
    throw new UserError('bad-flag', `Cannot work: --allow-url is ${JSON.stringify(text)}, ${expected}`);
  });
  return { origins, secrets: flags.allowSecrets, database: flags.database };
}

/** Refuses, with UserError 'unsafe-environment', a run that sends elsewhere, or reads another secret. */
export function assertTrusted(run: string, { name, service, steps }: WorkerJob, trust: WorkerTrust): void {
  const refuse = (so: string, expected: string, hint: string) =>
    new UserError('unsafe-environment', `Cannot work on run ${run} of job ${name}: ${so}, expected ${expected}`, {
      hint,
    });
  for (const area of areasOf(steps.filter(isRowStep))) {
    const base = service.bases[area];
    if (!isTrustedAddress(base, trust)) {
      const flag = `--allow-url ${URL.canParse(base) ? new URL(base).origin : 'https://…'}`;
      const expected = 'an address of the service, or of this machine';
      throw refuse(`it sends to ${JSON.stringify(base)}`, expected, `If that is meant, start the worker with ${flag}`);
    }
    const credentials = service.credentials[area];
    const source = credentials !== undefined && 'apiKey' in credentials ? credentials.apiKey : undefined;
    if (source === undefined || isTrustedSecret(source, trust)) continue;
    const hint = `If that is meant, start the worker with --allow-secret-${'env' in source ? 'env' : 'file'} ${nameOf(source)}`;
    const expected = 'a variable whose name begins with VOLLEY_, and not that of the database';
    throw refuse(`its key of ${area} is in ${nameOf(source)}`, expected, hint);
  }
}

function isTrustedAddress(base: string, { origins }: WorkerTrust): boolean {
  if (findBaseFault(base) !== undefined) return false;
  const { origin, hostname } = new URL(base);
  return isServiceOrigin(origin) || isLoopback(hostname) || origins.includes(origin);
}

function isTrustedSecret(source: SecretSource, { secrets, database }: WorkerTrust): boolean {
  const name = nameOf(source);
  return name !== nameOf(database) && (secrets.includes(name) || ('env' in source && OWN_VARIABLE.test(name)));
}

function nameOf(source: SecretSource): string {
  return 'env' in source ? source.env : source.file;
}
