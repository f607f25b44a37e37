import { z } from 'zod';
import { DEFAULT_MAX_FAILED_PERCENT, DEFAULT_OUTPUT_DIRECTORY, JOB_NAME } from '../defaults.js';
import { writtenService } from './service.js';
import { writtenStep } from './steps.js';
import { count, pathText, percent } from './values.js';
import { writtenLimits } from './written-limits.js';

const writtenGuards = z
  .strictObject({
    maxRejectedPercent: percent()
      .optional()
      .describe('Most rejected rows of a step, in percent of the rows read; beyond it nothing is sent.'),
    maxMessages: count().optional().describe('Most messages of the job; beyond it nothing is sent.'),
    maxSegments: count().optional().describe('Most SMS parts of the job; beyond it nothing is sent.'),
    maxFailedPercent: percent()
      .default(DEFAULT_MAX_FAILED_PERCENT)
      .describe('Most refused rows of a step, in percent of the rows answered; beyond it sending stops.'),
  })
  .describe('What a person must look at before it goes on.');

const writtenOutput = z
  .union(
    [
      pathText(),
      z.strictObject({
        directory: pathText().default(DEFAULT_OUTPUT_DIRECTORY).describe('Directory of the runs.'),
        format: z.enum(['csv', 'ndjson']).default('csv').describe('Format of results, rejections and the like.'),
      }),
    ],
    { error: 'expected a directory, or { directory, format }' },
  )
  .default(DEFAULT_OUTPUT_DIRECTORY)
  .describe('Directory that runs are kept in, relative to the job file; or { directory, format }.');

/** A job file as a person writes it. What the schema alone cannot say stands in rules.ts. */
export const writtenJob = z
  .strictObject({
    $schema: z.string().optional().describe('Address of this schema, for editors.'),
    name: z
      .string()
      .regex(JOB_NAME, 'expected up to 64 of a-z 0-9 . _ - that begin with a letter or digit')
      .optional()
      .describe("Names the directory of the job's runs; the name of the file when not given."),
    service: writtenService,
    limits: writtenLimits.optional(),
    steps: z.array(writtenStep).min(1).max(50).describe('What is done, in this order.'),
    guards: writtenGuards.prefault({}),
    failOn: z
      .enum(['rejections', 'in-doubt', 'nothing'])
      .default('rejections')
      .describe(
        'What makes the exit code other than 0: rejected rows (1) and rows in doubt (3), the latter only, or neither.',
      ),
    repeat: z
      .enum(['never', 'per-day', 'always'])
      .default('never')
      .describe('Whether a file that the job has sent already is sent again.'),
    output: writtenOutput,
  })
  .describe('A job of Volley: which files are read, and what is sent of them.');

/** What a person may write: defaults may be left out. */
export type WrittenJob = z.input<typeof writtenJob>;
/** The same once the schema has passed it: defaults are filled, paths are still as written. */
export type CheckedJob = z.output<typeof writtenJob>;
export type CheckedStep = CheckedJob['steps'][number];
export type CheckedInput = Extract<CheckedStep, { input: unknown }>['input'];
