import { z } from 'zod';
import { count } from '../values.js';
import { expected, whenSound, withHint } from '../words.js';
import { actionLimits } from '../written-limits.js';

const CAMPAIGN_TARGETS = ['RUNNING', 'PAUSED', 'PURGED', 'STOPPED'] as const;
const CAMPAIGN_STATES = ['NEW', 'SCHEDULED', ...CAMPAIGN_TARGETS] as const;

export const campaignStep = z
  .strictObject({
    kind: z.literal('campaign').describe('Checks the status of a campaign, or changes it. Has no rows.'),
    campaign: count().describe('Id of the campaign.'),
    expect: z
      .union(
        [
          z.enum(CAMPAIGN_STATES),
          z
            .array(z.enum(CAMPAIGN_STATES))
            .min(1)
            .refine((states) => new Set(states).size === states.length, 'expected every status once')
            .meta({ uniqueItems: true }),
        ],
        { error: expected(`one of ${CAMPAIGN_STATES.join(', ')}, or a list of them`) },
      )
      .transform((states) => [states].flat())
      .optional()
      .describe('Status, or list of them, that the campaign must have, otherwise the run stops. Checked before set.'),
    set: z.enum(CAMPAIGN_TARGETS).optional().describe('Status to set the campaign to.'),
    always: z
      .boolean()
      .default(false)
      .describe('Run this step even if an earlier one stopped the run, so that a paused dialer is resumed.'),
    limits: actionLimits('campaign').optional(),
  })
  .superRefine(
    ({ set, expect }, context) => {
      if (set !== undefined || expect !== undefined) return;
      const message = 'neither sets nor expects a status, expected set or expect';
      const hint = 'Write set: PAUSED to change the campaign, or expect: RUNNING to stop if it has another status.';
      context.addIssue({ code: 'custom', message: withHint(message, hint) });
    },
    whenSound('set', 'expect'),
  )
  .meta({
    description: 'Reads or changes the status of a dynamic campaign of the contact center.',
    anyOf: [{ required: ['set'] }, { required: ['expect'] }],
  });
