import { z } from 'zod';
import { actionLimits } from '../../limits.js';
import { count, distinct, switchedOff } from '../values.js';
import { expected, rule, whenSound } from '../words.js';

const CAMPAIGN_TARGETS = ['RUNNING', 'PAUSED', 'PURGED', 'STOPPED'] as const;
const CAMPAIGN_STATES = ['NEW', 'SCHEDULED', ...CAMPAIGN_TARGETS] as const;

export const campaignStep = z
  .strictObject({
    kind: z.literal('campaign').describe('Checks the status of a campaign, or changes it. Has no rows.'),
    campaign: count().describe('Id of the campaign.'),
    expect: z
      .union([z.enum(CAMPAIGN_STATES), distinct(z.enum(CAMPAIGN_STATES), 'expected every status once')], {
        error: expected(`one of ${CAMPAIGN_STATES.join(', ')}, or a list of them`),
      })
      .transform((states) => [states].flat())
      .optional()
      .describe('Status, or list of them, that the campaign must have, otherwise the run stops. Checked before set.'),
    set: z.enum(CAMPAIGN_TARGETS).optional().describe('Status to set the campaign to.'),
    always: switchedOff().describe(
      'Run this step even if an earlier one stopped the run, so that a paused dialer is resumed.',
    ),
    limits: actionLimits('campaign').optional(),
  })
  .superRefine(
    rule(({ set, expect }) => {
      if (set !== undefined || expect !== undefined) return undefined;
      const hint = 'Write set: PAUSED to change the campaign, or expect: RUNNING to stop if it has another status.';
      return { message: 'neither sets nor expects a status, expected set or expect', hint };
    }),
    whenSound('set', 'expect'),
  )
  .meta({
    description: 'Reads or changes the status of a dynamic campaign of the contact center.',
    anyOf: [{ required: ['set'] }, { required: ['expect'] }],
  });
