import { z } from 'zod';
import { suggestNearest } from '../../../domain/suggest.js';
import { parseTemplate, type Template } from '../../../template/parse.js';
import { CHAT_FIGURES } from '../../chat-figures.js';
import { cut } from '../../explain/finding.js';
import { lineOfText } from '../values.js';
import { addTemplateFault, withHint } from '../words.js';
import { actionLimits } from '../written-limits.js';

export const chatStep = z
  .strictObject({
    kind: z.literal('chat').describe('Posts a message to a room of the workplace chat. Has no rows.'),
    text: z
      .string()
      .min(1)
      .superRefine(checkText)
      .describe(`The message, in LiquidJS; it can use the counts of the run: ${CHAT_FIGURES.join(', ')}.`),
    room: lineOfText().optional().describe('Name of the room; by default the room of the key.'),
    when: z
      .enum(['always', 'failure', 'success'])
      .default('always')
      .describe('When to post: always, only if the run failed, or only if it succeeded.'),
    limits: actionLimits('chat').optional(),
  })
  .describe('Posts a message with the counts of the run.');

/** The text is rendered after the work is done, so its faults must be found before. */
function checkText(text: string, context: z.core.$RefinementCtx): void {
  let template: Template;
  try {
    template = parseTemplate(text);
  } catch (error) {
    addTemplateFault(error, 'cannot be posted', context);
    return;
  }
  const unknown = template.variables.filter((name) => !CHAT_FIGURES.some((figure) => figure === name));
  const [first] = unknown;
  if (first === undefined) return;
  const named = unknown.map((name) => JSON.stringify(cut(name))).join(', ');
  const nearest = suggestNearest(first, CHAT_FIGURES);
  const hint =
    nearest === undefined ? 'A chat message is posted once and cannot use columns.' : `Did you mean ${nearest}?`;
  const message = withHint(`names ${named}, expected counts of the run: ${CHAT_FIGURES.join(', ')}`, hint);
  context.addIssue({ code: 'custom', message });
}
