import { z } from 'zod';
import { CHAT_FIGURES } from '../../chat-figures.js';
import { lineOfText } from '../values.js';
import { actionLimits } from '../written-limits.js';

/** rules/chat.ts checks the figures that the text names. */
export const chatStep = z
  .strictObject({
    kind: z.literal('chat').describe('Posts a message to a room of the workplace chat. Has no rows.'),
    text: z
      .string()
      .min(1)
      .describe(`The message, in LiquidJS; it can use the counts of the run: ${CHAT_FIGURES.join(', ')}.`),
    room: lineOfText().optional().describe('Name of the room; by default the room of the key.'),
    when: z
      .enum(['always', 'failure', 'success'])
      .default('always')
      .describe('When to post: always, only if the run failed, or only if it succeeded.'),
    limits: actionLimits('chat').optional(),
  })
  .describe('Posts a message with the counts of the run.');
