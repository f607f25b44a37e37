import type { InferredOptionTypes, Options } from 'yargs';
import type { Verb } from '../command/runner.js';
import { LOG_FORMATS, LOG_LEVELS } from '../ports/log-level.js';

/** A flag or an argument, as yargs knows it. */
export interface Flag extends Options {
  /** What `coerce` can read; it gives undefined for all else, or throws what is wrong. */
  readonly expected?: string;
}

/** Flags as a verb reads them: `--keep-last` is `keepLast`. */
type Read<O extends Record<string, Options>> = {
  readonly [Name in keyof O & string as CamelCase<Name>]: InferredOptionTypes<O>[Name];
};

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** Infers the types of what a verb is given. */
export function defineVerb<const A extends Record<string, Flag>, const O extends Record<string, Flag>>(
  verb: Verb<Read<A & O>> & { readonly args: A; readonly flags: O },
): Verb<Read<A & O>> {
  return verb;
}

// biome-ignore lint/suspicious/noExplicitAny: each verb has flags of its own, which its module knows
export type AnyVerb = Verb<any>;

/** What the help lists: name and arguments, such as `prune <job>`, and what that does. */
export interface Listed {
  readonly command: string;
  readonly about: string;
}

/** A verb with verbs below it, such as `chat read` and `chat post`. */
export type Group = readonly (Listed & AnyVerb)[];

/** Defines a verb below another, which the list of all verbs does not name. */
export function defineBelow<const A extends Record<string, Flag>, const O extends Record<string, Flag>>(
  command: string,
  about: string,
  verb: Verb<Read<A & O>> & { readonly args: A; readonly flags: O },
): Listed & Verb<Read<A & O>> {
  return { command, about, ...verb };
}

/** A command without its arguments. */
export function nameOf(command: string): string {
  return command.replace(/ [<[].*/, '');
}

export function text(describe: string) {
  return { describe, type: 'string', requiresArg: true } as const;
}

/** A flag that is given once for each text. */
export function texts(describe: string) {
  return { describe, type: 'string', array: true, nargs: 1 } as const;
}

export function yes(describe: string) {
  return { describe, type: 'boolean', default: false } as const;
}

/** A positional argument that must be given. */
export function argument(describe: string) {
  return { describe, type: 'string', demandOption: true } as const;
}

/** A text that stands for something else; `expected` says which can be read. */
export function readAs<T>(describe: string, expected: string, coerce: (given: string) => T | undefined) {
  return { ...text(describe), expected, coerce: coerce as (given: string) => T } as const;
}

export function whole(describe: string, least: number, most?: number) {
  const read = (given: string) => {
    const number = Number(given);
    return /^\d{1,15}$/.test(given) && number >= least && number <= (most ?? number) ? number : undefined;
  };
  return readAs(describe, `a whole number from ${least}${most === undefined ? '' : ` to ${most}`}`, read);
}

export const json = {
  describe: 'Print JSON on stdout (default: when stdout is not a terminal); --no-json prints plain text',
  type: 'boolean',
} as const;

export const theJob = argument('The job file (YAML or JSON)');
export const theRun = argument('A run directory, as plan and run print it');
export const namedRun = argument(
  'A run directory, as plan and run print it; or a job file, or its directory in the output: its newest run',
);

/** Flag of verbs that send, or that decide what is sent. */
export const adopt = yes(
  "Use the job's directory from now on though it was copied, restored from a backup, or cut; recorded with your name",
);

/** Flag of verbs that plan or send. */
export const again = yes('Send files again that the job has already sent');
/** Flags of verbs that choose rows. */
export const rowChoice = {
  row: {
    ...whole('Only the row with this number in its file, without the header', 1),
    conflicts: ['longest', 'ucs2', 'random'],
  },
  longest: { describe: 'The messages with the most SMS parts', type: 'boolean', conflicts: ['ucs2', 'random'] },
  ucs2: { describe: 'Messages with a character that forces UCS-2', type: 'boolean', conflicts: 'random' },
  random: text('Rows drawn at random by this word; the same word draws the same rows'),
} as const;

/** Flags of verbs that make a single call. */
export const single = {
  job: {
    ...text('A job file: its service section names the account and the credentials; its steps are not run'),
    demandOption: true,
  },
  json,
} as const;

/** Flags of verbs that listen. */
export const port = (otherwise: number) => ({ ...whole('0 takes any free port', 0, 65_535), default: otherwise });
export const host = { ...text('Address to listen on'), default: '127.0.0.1' } as const;

/** Flags of verbs that serve metrics. */
export const metricsPort = {
  'metrics-port': whole('Port that serves the metrics for Prometheus at /metrics; 0 takes any free port', 0, 65_535),
  'metrics-host': { ...text('Address that the metrics port is on'), default: '127.0.0.1' },
} as const;

/** Flags of verbs that send the rows of a job. */
export const metrics = {
  'metrics-file': readAs(
    'File that gets the metrics for Prometheus, every 15 s and at the end; its name ends in .prom, for the textfile collector of the node exporter',
    'a name that ends in .prom: the collector reads no other, and no other file is replaced by mistake',
    (path) => (/[^/]\.prom$/.test(path) ? path : undefined),
  ),
  ...metricsPort,
} as const;

/** Flags of verbs that send a plan; `yes` and `confirm` answer the question on a terminal. */
export const sending = {
  yes: yes('Send without the question that a terminal asks'),
  confirm: text(
    'What you reviewed: the id of the plan, or how many people it goes to; anything else is refused, and nothing is asked',
  ),
  wait: yes('Wait for `notBefore` of the job, then send; without it, the command ends with 75 before that time'),
  standby: yes('While another process has the job, wait; take over when that is gone, or end as its run ended'),
  ...metrics,
  adopt,
  json,
} as const;

/** Where the address of the database is, for verbs without a job. */
export const databaseFlags = {
  'database-env': text('Environment variable that holds the address of the database (default: VOLLEY_DATABASE_URL)'),
  'database-file': { ...text('File that holds the address of the database'), conflicts: 'database-env' },
} as const;

/** Flags of every verb. */
export const logFlags: Readonly<Record<string, Flag>> = {
  'log-level': {
    describe: 'Lowest level that the log on stderr has (default: info)',
    choices: LOG_LEVELS,
    requiresArg: true,
  },
  'log-format': {
    describe: 'JSON, one object a line, or plain text (default: pretty on a terminal, else json)',
    choices: LOG_FORMATS,
    requiresArg: true,
  },
};
