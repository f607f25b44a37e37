import { z } from 'zod';
import type { Kind } from '../../domain/areas.js';
import { checkJob } from '../job-rules.js';
import { sharedLimits } from '../limits.js';
import { writtenApprovers } from './approvers.js';
import { writtenSecret, writtenService } from './service.js';
import { campaignStep } from './steps/campaign.js';
import { chatStep } from './steps/chat.js';
import { contactsStep } from './steps/contacts.js';
import { conversationsStep } from './steps/conversations.js';
import { smsStep } from './steps/sms.js';
import { verificationCheckStep, verificationStartStep } from './steps/verification.js';
import {
  age,
  amount,
  count,
  currencyCode,
  delimiter,
  encodingLabel,
  instant,
  ownNumber,
  pathText,
  percent,
  switchedOff,
  webAddress,
} from './values.js';
import { expected, whenSound, withHint } from './words.js';
import { writtenWindow } from './written-timing.js';

/** The schema of each kind. */
export const stepSchemas = {
  contacts: contactsStep,
  sms: smsStep,
  'verification.start': verificationStartStep,
  'verification.check': verificationCheckStep,
  conversations: conversationsStep,
  campaign: campaignStep,
  chat: chatStep,
} satisfies Readonly<Record<Kind, z.ZodObject>>;

type StepSchema = (typeof stepSchemas)[Kind];

const writtenStep = z.discriminatedUnion('kind', Object.values(stepSchemas) as [StepSchema, ...StepSchema[]]);

/** A job's name is the name of a directory. */
export const JOB_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
export const NAME_EXPECTED =
  'expected the name of a directory: up to 64 of a-z 0-9 . _ - that begin with a letter or digit';

/** The nearest valid name for a job. */
export function suggestName(text: string): string {
  const name = text
    .slice(0, 64)
    .normalize('NFD')
    .toLowerCase()
    .replace(/\p{Mn}/gu, '')
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  return name === '' ? 'spring-sale' : name;
}

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
    // Volley's choice: when every second answer is a refusal, the job is wrong and not its rows. Per step, once 100 rows are answered.
    maxFailedPercent: percent()
      .default(50)
      .describe('Highest share of refused rows in a step, in percent of the rows answered. Above it, sending stops.'),
    requireTest: switchedOff().describe(
      'Whether a plan is sent only once a test of it, by `volley test`, was accepted.',
    ),
    requireApproval: count(10)
      .optional()
      .describe(
        'How many people must approve a plan, by `volley approve`, before it is sent; the name that planned it does not count.',
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

/** How `run` and `apply` can end. */
const NOTIFY_EVENTS = ['failure', 'in-doubt', 'success', 'missing-input'] as const;
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

/** Where the end of a run is posted to. It may be a secret: an address is all that one needs to post to a chat. */
export const notifyAddress = webAddress().refine(
  (text) => !/^https?:\/\/[^/?#\\]*@/i.test(text),
  'expected an address without user name and password',
);

const writtenNotify = z
  .strictObject({
    url: z
      .union([notifyAddress, writtenSecret('address')], {
        error: expected('an address that begins with https://, or { env: NAME } or { file: PATH } where one is kept'),
      })
      .describe('Address that is posted to: https (http for this machine), or { env: NAME } or { file: PATH }.'),
    on: z
      .array(z.enum(NOTIFY_EVENTS))
      .min(1)
      .default(['failure', 'in-doubt'])
      .describe('Ends that are posted. missing-input is a failure too; named alone, other failures are not posted.'),
  })
  .describe('Where the figures of `run` and `apply` are posted as JSON once they end.');

const writtenCluster = z
  .strictObject({
    database: writtenSecret('address of the database'),
    share: z
      .enum(['requests', 'lane'])
      .default('requests')
      .describe(
        'requests: workers of the database send the requests of this job. lane: this process sends alone, and shares the limits of the account with the others.',
      ),
    // A worker stops ten seconds before its lease ends.
    leaseSeconds: z
      .int()
      .min(15)
      .max(3600)
      .default(30)
      .describe(
        'How long workers continue if the leader dies: what the limit sends in that time is handed over ahead.',
      ),
    sendHere: z
      .boolean()
      .default(true)
      .describe('Whether the process that leads the run sends too, beside its workers.'),
  })
  .describe('A PostgreSQL database over which several processes send one job, or share the limits of an account.');

const csvSettings = z
  .strictObject({
    delimiter: z
      .enum([',', ';'])
      .default(',')
      .describe('What separates the fields: Excel in German, French and other languages expects ;'),
    bom: switchedOff().describe('Begin with a byte order mark, by which Excel knows UTF-8.'),
  })
  .describe('How CSV outputs are written.');

/** A directory beside the job file. */
export const DEFAULT_OUTPUT = 'out';

const outputSettings = z.strictObject({
  directory: pathText().default(DEFAULT_OUTPUT).describe('Directory of the runs.'),
  format: z
    .enum(['csv', 'ndjson', 'xlsx'])
    .default('csv')
    .describe('Format of results, rejections and the other row files.'),
  csv: csvSettings.optional(),
});

const writtenOutput = z
  .union([pathText(), outputSettings], { error: expected('a directory, or { directory, format }') })
  .default(DEFAULT_OUTPUT)
  .describe('Directory for the runs, relative to the job file; or { directory, format }.')
  .transform((written) => (typeof written === 'string' ? outputSettings.parse({ directory: written }) : written));

/** Volley's choice: a team, and no audience. */
export const MAX_TEST_NUMBERS = 20;

const DAY_MS = 86_400_000;

const writtenFrequency = z
  .strictObject({
    max: count().describe('Most messages to one number within that time, from whatever job.'),
    per: age().describe('The time, such as 7d.'),
    group: z
      .string()
      .regex(JOB_NAME, 'expected a word of a-z 0-9 . _ -, such as marketing')
      .optional()
      .describe('Counts the messages of jobs that name the same group; by default those of all jobs.'),
  })
  .describe('How often a person is written to: rows above it are skipped.');

const jobKeys = z.strictObject({
  $schema: z.string().optional().describe('Address of this schema, for editors.'),
  name: z
    .string()
    .regex(JOB_NAME, { error: ({ input }) => withHint(NAME_EXPECTED, `Write name: ${suggestName(String(input))}.`) })
    .optional()
    .describe("Names the directory of the job's runs; by default the name of the file."),
  service: writtenService,
  limits: sharedLimits.optional(),
  window: writtenWindow.optional(),
  steps: z.array(writtenStep).min(1).max(50).describe('What to do, in this order.'),
  guards: writtenGuards.prefault({}),
  approvers: writtenApprovers.optional(),
  optOuts: pathText()
    .refine((path) => path !== '-', 'expected a file, or a directory of lists')
    .optional()
    .describe(
      'Numbers of people who opted out, for all steps that write to people: a file, such as volley listen and volley people write, or a directory of lists.',
    ),
  prices: writtenPrices.optional(),
  failOn: z
    .enum(['rejections', 'in-doubt', 'nothing'])
    .default('rejections')
    .describe(
      'What makes the exit code other than 0: rejected or held rows (1) and rows in doubt (3), only rows in doubt, or neither.',
    ),
  repeat: z
    .enum(['never', 'per-day', 'always'])
    .default('never')
    .describe(
      'Whether to send a file again that the job has already sent. Its rows then go to all who had the text, with per-day to all who had not had it that day, unless sameText says otherwise.',
    ),
  sameText: z
    .enum(['hold', 'skip', 'send'])
    .optional()
    .describe(
      'What happens to a row whose number had exactly its text, from the same sender, before: it is held, and the run ends with exit code 1 (so it is where nothing is said), skipped, or sent.',
    ),
  sameTextWithin: age()
    .default(14 * DAY_MS)
    .describe('How long ago the text may have been sent to count.'),
  frequency: writtenFrequency.optional(),
  memory: pathText()
    .optional()
    .describe('Directory that jobs share, in which they remember whom they wrote to; by default that of their output.'),
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
});

/** A job file as a person writes it. */
export const writtenJob = jobKeys
  .superRefine(checkJob, whenSound())
  .describe('A Volley job: which files to read, and what to send from them.');

/** A job file for a single call: its steps may be faulty or missing, and are not read. */
export const writtenJobWithoutSteps = jobKeys
  .extend({
    steps: z
      .unknown()
      .optional()
      .transform((): CheckedStep[] => []),
  })
  .superRefine(checkJob, whenSound());

/** What a person may write: keys with defaults are optional. */
export type WrittenJob = z.input<typeof writtenJob>;
/** A job once the schema has passed it: defaults are filled, paths are still as written. */
export type CheckedJob = z.output<typeof writtenJob>;
export type CheckedStep = CheckedJob['steps'][number];
export type CheckedInput = Extract<CheckedStep, { input: unknown }>['input'];
