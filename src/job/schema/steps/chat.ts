import { z } from 'zod';
import { suggestNearest } from '../../../domain/text.js';
import { parseTemplate } from '../../../template/parse.js';
import { cut } from '../../explain/finding.js';
import { actionLimits } from '../../limits.js';
import { lineOfText } from '../values.js';
import { describeTemplateFault, rule, type ValueFault } from '../words.js';

/**
 * What the text of a chat step may name, each a text when the run renders it: the job and the plan by name, how the run
 * ended (`state`, and `reason` and `detail` where it stopped), the rows of all steps as jobs/reference/job-file.md says, how long it
 * took and since when, and where its files are.
 */
export const CHAT_FIGURES = [
  'job',
  'plan',
  'state',
  'reason',
  'detail',
  'read',
  'accepted',
  'rejected',
  'skipped',
  'inDoubt',
  'unprocessed',
  'seconds',
  'startedAt',
  'directory',
] as const;
export type ChatFigure = (typeof CHAT_FIGURES)[number];

export const chatStep = z
  .strictObject({
    kind: z.literal('chat').describe('Posts a message to a room of the workplace chat. Has no rows.'),
    text: z
      .string()
      .min(1)
      .superRefine(rule(findTextFault))
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
function findTextFault(text: string): ValueFault | undefined {
  let variables: readonly string[];
  try {
    ({ variables } = parseTemplate(text));
  } catch (error) {
    return describeTemplateFault(error, 'cannot be posted');
  }
  const unknown = variables.filter((name) => !CHAT_FIGURES.some((figure) => figure === name));
  const [first] = unknown;
  if (first === undefined) return undefined;
  const nearest = suggestNearest(first, CHAT_FIGURES);
  const named = unknown.map((name) => JSON.stringify(cut(name))).join(', ');
  return {
    message: `names ${named}, expected counts of the run: ${CHAT_FIGURES.join(', ')}`,
    hint: nearest ? `Did you mean ${nearest}?` : 'A chat message is posted once and cannot use columns.',
  };
}
