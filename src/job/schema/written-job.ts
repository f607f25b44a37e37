import { z } from 'zod';
import { DEFAULT_MAX_FAILED_PERCENT, DEFAULT_OUTPUT_DIRECTORY, JOB_NAME, MAX_TEST_NUMBERS } from '../defaults.js';
import { writtenCluster } from './cluster-settings.js';
import { writtenNotify } from './notify.js';
import { writtenService } from './service.js';
import { writtenStep } from './steps/steps.js';
import {
  amount,
  count,
  currencyCode,
  encodingLabel,
  instant,
  ownNumber,
  pathText,
  percent,
  switchedOn,
} from './values.js';
import { expected } from './words.js';
import { delimiter } from './written-input.js';
import { writtenLimits } from './written-limits.js';

const writtenGuards = z
  .strictObject({
    maxRejectedPercent: percent()
      .optional()
      .describe('Highest share of rejected rows in a step, in percent of the rows read. Above it, nothing is sent.'),
    maxMessages: count().optional().describe('Largest number of messages in the job. Above it, nothing is sent.'),
    maxSegments: count().optional().describe('Largest number of SMS parts in the job. Above it, nothing is sent.'),
    maxCost: amount()
      .optional()
      .describe('Highest cost of the job, in the currency of its price list. Above it, nothing is sent.'),
    /** Per step, once 100 rows are answered. */
    maxFailedPercent: percent()
      .default(DEFAULT_MAX_FAILED_PERCENT)
      .describe('Highest share of refused rows in a step, in percent of the rows answered. Above it, sending stops.'),
    requireTest: switchedOn().describe(
      'Whether a plan is sent only once a test of it, by `volley test`, was accepted.',
    ),
  })
  .describe('When the job stops, so that a person can look.');

const writtenPrices = z
  .strictObject({
    file: pathText()
      .refine(
        (path) => path !== '-',
        'expected a file: standard input is read for the files of a step, and for its suppression lists',
      )
      .describe(
        'Price list: a CSV file with the columns country (land) or prefix (vorwahl), sms (price, preis), and if need be contact (kontakt).',
      ),
    currency: currencyCode(),
    onMissing: z
      .enum(['refuse', 'zero'])
      .default('refuse')
      .describe('What a country without a price does: the plan is refused, or its messages count as costing nothing.'),
    encoding: encodingLabel()
      .optional()
      .describe('Encoding of the file. By default that of the byte order mark, or else strict UTF-8.'),
    delimiter: delimiter().optional().describe('What separates the fields; by default it is detected from the header.'),
  })
  .describe('What messages cost: the plan and the report say it.');

const csvSettings = z
  .strictObject({
    delimiter: z
      .enum([',', ';'])
      .default(',')
      .describe('What separates the fields: Excel in German, French and other languages expects ;'),
    bom: z.boolean().default(false).describe('Begin with a byte order mark, by which Excel knows UTF-8.'),
  })
  .describe('How CSV outputs are written.');

const outputSettings = z.strictObject({
  directory: pathText().default(DEFAULT_OUTPUT_DIRECTORY).describe('Directory of the runs.'),
  format: z
    .enum(['csv', 'ndjson', 'xlsx'])
    .default('csv')
    .describe('Format of results, rejections and the other row files.'),
  csv: csvSettings.optional(),
});

const writtenOutput = z
  .union([pathText(), outputSettings], { error: expected('a directory, or { directory, format }') })
  .default(DEFAULT_OUTPUT_DIRECTORY)
  .describe('Directory for the runs, relative to the job file; or { directory, format }.')
  .transform((written) => (typeof written === 'string' ? outputSettings.parse({ directory: written }) : written));

/** A job file as a person writes it. Rules across its parts are in job-rules.ts. */
export const writtenJob = z
  .strictObject({
    $schema: z.string().optional().describe('Address of this schema, for editors.'),
    name: z
      .string()
      .regex(JOB_NAME, 'expected up to 64 of a-z 0-9 . _ - that begin with a letter or digit')
      .optional()
      .describe("Names the directory of the job's runs; by default the name of the file."),
    service: writtenService,
    limits: writtenLimits.optional(),
    steps: z.array(writtenStep).min(1).max(50).describe('What to do, in this order.'),
    guards: writtenGuards.prefault({}),
    prices: writtenPrices.optional(),
    failOn: z
      .enum(['rejections', 'in-doubt', 'nothing'])
      .default('rejections')
      .describe(
        'What makes the exit code other than 0: rejected rows (1) and rows in doubt (3), only rows in doubt, or neither.',
      ),
    repeat: z
      .enum(['never', 'per-day', 'always'])
      .default('never')
      .describe('Whether to send a file again that the job has already sent.'),
    notBefore: instant()
      .optional()
      .describe('Nothing is sent before this time; `run --wait` waits for it, and otherwise exits with 75.'),
    notAfter: instant().optional().describe('Nothing is sent after this time: a run that is still sending stops.'),
    testNumbers: z
      .array(ownNumber())
      .min(1)
      .max(MAX_TEST_NUMBERS)
      .optional()
      .describe('Your own numbers, to which `volley test` sends; each with + and its country code.'),
    notify: writtenNotify.optional(),
    cluster: writtenCluster.optional(),
    output: writtenOutput,
  })
  .describe('A Volley job: which files to read, and what to send from them.');

/** What a person may write: keys with defaults are optional. */
export type WrittenJob = z.input<typeof writtenJob>;
/** The same once the schema has passed it: defaults are filled, paths are still as written. */
export type CheckedJob = z.output<typeof writtenJob>;
export type CheckedStep = CheckedJob['steps'][number];
export type CheckedInput = Extract<CheckedStep, { input: unknown }>['input'];
