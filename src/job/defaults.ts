/**
 * Defaults of a job, and the most that it may ask for. One place for every such number, with its source; limits of
 * rate stand in job/limits.ts, facts of the service in
 * domain/service-facts.ts.
 */

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** Volley's choice: generous for exported files, small enough that one bad file cannot exhaust memory. */
export const DEFAULT_READ_LIMITS = {
  maxFieldBytes: MIB,
  maxColumns: 1000,
  maxLineBytes: 16 * MIB,
  maxFileBytes: 64 * GIB,
};

/** Volley's choice: a batch of 10,000 messages takes the service under a second, the rest is margin. */
export const DEFAULT_TIMEOUTS = { connectSeconds: 10, answerSeconds: 60 };

/** Volley's choice: long enough for a proxy to restart, short enough that a nightly job ends in the night. */
export const DEFAULT_GIVE_UP_AFTER_SECONDS = 900;

/** Volley's choice: when every second answer is a refusal, the job is wrong and not its rows. */
export const DEFAULT_MAX_FAILED_PERCENT = 50;

/**
 * Contract, "Batch SMS": up to 10,000 messages a request. The default is Volley's choice: a lost answer leaves that
 * many rows in doubt.
 */
export const MAX_BATCH_SIZE = 10_000;
export const DEFAULT_BATCH_SIZE = 1000;

/** Volley's choice: a team, and no audience. */
export const MAX_TEST_NUMBERS = 20;

/** Contract, "Resources": the subaccount that each account has by default. */
export const DEFAULT_SUB_ACCOUNT_SUFFIX = '_hq';
/** The service's public documentation, path parameter subAccountId. */
export const SUB_ACCOUNT_ID = /^[A-Za-z0-9\-._&]{3,50}$/;

/** The account of the embedded sandbox. */
export const SANDBOX_ACCOUNT = 'acme';

/** A job's name is the name of a directory. */
export const JOB_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Where runs go when the job does not say: beside the job file. */
export const DEFAULT_OUTPUT_DIRECTORY = 'out';
