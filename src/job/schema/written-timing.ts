import { z } from 'zod';
import { isTimeZone } from '../../domain/stated-time.js';
import { DAYS, parseMinutes } from '../../hours/window.js';
import { suggestTimeZone } from '../local-time.js';
import { age, columnName, distinct, parseShare, percent, switchedOff } from './values.js';
import { expected, rule, whenSound, withHint } from './words.js';

const EXPECTED_TIME = 'expected a time of the day such as "09:00"';

function timeOfDay() {
  return z
    .string({ error: EXPECTED_TIME })
    .refine((text) => parseMinutes(text) !== undefined, EXPECTED_TIME)
    .meta({ examples: ['09:00'] });
}

const EXPECTED_ZONE = 'recipient, the name of a time zone such as Asia/Singapore, or { column: NAME }';

const windowZone = z.union(
  [
    z.string().refine((name) => name === 'recipient' || isTimeZone(name), {
      error: ({ input }) => {
        const meant = suggestTimeZone(String(input));
        return withHint(`expected ${EXPECTED_ZONE}`, meant && `Did you mean ${meant}?`);
      },
    }),
    z.strictObject({ column: columnName().describe('Column with the name of the time zone of each row.') }),
  ],
  { error: expected(EXPECTED_ZONE) },
);

export const writtenWindow = z
  .strictObject({
    days: distinct(z.enum(DAYS), 'expected each day once')
      .default(['mon', 'tue', 'wed', 'thu', 'fri', 'sat'])
      .describe('Days on which messages leave: mon, tue, wed, thu, fri, sat, sun.'),
    from: timeOfDay().describe('First minute, by the clock of the time zone, in quotes: "09:00".'),
    to: timeOfDay().describe('Minute from which nothing leaves any more: "20:00"; "24:00" is the end of the day.'),
    timeZone: windowZone
      .default('recipient')
      .describe('Whose clock: all time zones of the country of the number, one by name, or one that a column names.'),
    unknown: z
      .enum(['reject', 'hold'])
      .default('reject')
      .describe('What happens to a row whose time zone is not known: it is rejected, or skipped.'),
    outside: z
      .enum(['stop', 'wait'])
      .default('stop')
      .describe('What a run does once nothing that is left may leave: it ends with 75, or waits.'),
  })
  .superRefine(
    rule(({ from, to }) => {
      if ((parseMinutes(from) ?? 0) < (parseMinutes(to) ?? 0)) return undefined;
      return {
        path: ['to'],
        message: `expected a time after from, ${from}, on the same day`,
        hint: 'A window does not reach over midnight: name the hours of the day in which messages may leave, up to "24:00".',
      };
    }),
    whenSound('from', 'to'),
  )
  .describe('Hours in which messages leave, by the clocks of their recipients; outside them nothing is sent.');

const MOST_STAGES = 20;

const EXPECTED_SHARE = 'expected a share of the rows such as 5% or 0.5%';

const share = z
  .string({ error: EXPECTED_SHARE })
  .refine((text) => parseShare(text) !== undefined, EXPECTED_SHARE)
  .meta({ examples: ['5%'] })
  .describe('Part of the rows that this stage sends: 5%.')
  .transform((text) => parseShare(text) ?? 0);

const pause = age().describe(
  'How long the run waits behind the last answer of the stage, before it is judged: 30m, 2h, 1d.',
);

const stage = z
  .strictObject({
    share,
    pause: pause.optional(),
    ask: switchedOff().describe(
      'Whether a person decides on the rest once the stage is sent, as with `volley run --first`; what is said of it does not decide then.',
    ),
    stopAbove: z
      .strictObject({
        rejectedPercent: percent()
          .default(10)
          .describe('Of the rows of the stage that were sent: those that were rejected, or are in doubt.'),
        undeliveredPercent: percent()
          .optional()
          .describe('Of its messages with a final receipt: those that were not delivered.'),
      })
      .prefault({})
      .describe('Above one of these the run stops until a person lets the stage pass.'),
    needReceiptsPercent: percent()
      .optional()
      .describe('Of the rows of the stage that were sent: how many must have a final receipt after the pause.'),
  })
  .superRefine(
    rule(({ pause, stopAbove, needReceiptsPercent }) => {
      const needsReceipts = stopAbove.undeliveredPercent !== undefined || needReceiptsPercent !== undefined;
      if (!needsReceipts || pause !== undefined) return undefined;
      const hint = 'Receipts come minutes or hours after a message: say how long the run waits for them, such as 2h.';
      return { path: ['pause'], message: 'expected how long to wait for receipts', hint };
    }),
    whenSound('stopAbove', 'needReceiptsPercent', 'pause'),
  )
  .transform(({ share, pause: pauseMs = 0, ask, ...judged }) => ({
    size: { percent: share },
    pauseMs,
    ...judged,
    ...(ask ? { isAsked: true as const } : {}),
  }));

export const writtenRamp = z
  .array(stage)
  .min(1)
  .max(MOST_STAGES)
  // Runs even if a stage is at fault, which then has no `size`.
  .refine((stages) => stages.reduce((sum, { size }) => sum + (size?.percent ?? 0), 0) < 100, {
    error: 'expected shares that are less than 100% together: what is left is sent last',
  })
  .describe('Stages in which the step sends, each a share of the rows; the last one, all that is left, is not listed.');
