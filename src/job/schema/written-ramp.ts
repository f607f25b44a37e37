import { z } from 'zod';
import { age, parseShare, percent, switchedOff } from './values.js';
import { rule, whenSound } from './words.js';

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
