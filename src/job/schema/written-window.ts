import { z } from 'zod';
import { isTimeZone } from '../../domain/stated-time.js';
import { DAYS, parseMinutes } from '../../hours/window.js';
import { suggestTimeZone } from '../local-time.js';
import { columnName, distinct } from './values.js';
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
