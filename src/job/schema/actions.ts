import { z } from 'zod';
import { CHAT_FIGURES } from '../chat-figures.js';
import { count, lineOfText } from './values.js';
import { actionLimits } from './written-limits.js';

const CAMPAIGN_TARGETS = ['RUNNING', 'PAUSED', 'PURGED', 'STOPPED'] as const;
const CAMPAIGN_STATES = ['NEW', 'SCHEDULED', ...CAMPAIGN_TARGETS] as const;

/** That it sets or expects something is a rule of rules-steps.ts. */
export const campaignStep = z
  .strictObject({
    kind: z.literal('campaign').describe('Looks at the status of a campaign, or changes it; has no rows.'),
    campaign: count().describe('Id of the campaign.'),
    set: z.enum(CAMPAIGN_TARGETS).optional().describe('Status that the campaign is brought to.'),
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
        { error: `expected one of ${CAMPAIGN_STATES.join(', ')}, or a list of them` },
      )
      .optional()
      .describe('Status, or list of them, that the campaign must be in, else the run stops; looked at before set.'),
    always: z
      .boolean()
      .default(false)
      .describe('Run this step even if an earlier one stopped the run, so that a dialer goes on.'),
    limits: actionLimits('campaign').optional(),
  })
  .meta({
    description: 'Reads or changes the status of a dynamic campaign of the contact center.',
    anyOf: [{ required: ['set'] }, { required: ['expect'] }],
  });

/** That the text names only figures there are is a rule of rules-chat.ts. */
export const chatStep = z
  .strictObject({
    kind: z.literal('chat').describe('Posts a message to a room of the workplace chat; has no rows.'),
    text: z
      .string()
      .min(1)
      .describe(`The message, in LiquidJS over the figures of the run: ${CHAT_FIGURES.join(', ')}.`),
    room: lineOfText().optional().describe("Name of the room; the key's own room when not given."),
    when: z
      .enum(['always', 'failure', 'success'])
      .default('always')
      .describe('Post however the run goes, or only where it failed, or only where it did not.'),
    limits: actionLimits('chat').optional(),
  })
  .describe('Posts a message with the figures of the run.');
