import { UserError } from '../../domain/errors.js';
import { suggestNearest } from '../../domain/suggest.js';
import { parseTemplate, type Template } from '../../template/parse.js';
import { CHAT_FIGURES } from '../chat-figures.js';
import { cut, type Finding, namePath } from '../explain/finding.js';
import { listSteps, type WrittenStep } from '../explain/written-steps.js';

/** The text of a chat step is rendered after the work is done, so its faults must be found before. */
export function checkChatTexts(job: unknown): Finding[] {
  return listSteps(job).flatMap((step) => (step.kind === 'chat' ? checkChatText(step) : []));
}

function checkChatText({ step, at: stepAt }: WrittenStep): Finding[] {
  if (typeof step.text !== 'string' || step.text === '') return [];
  const at = [...stepAt, 'text'];
  let template: Template;
  try {
    template = parseTemplate(step.text);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { message, hint } = error.problems[0] ?? error;
    const more = error.problems.length > 1 ? `, and ${error.problems.length - 1} more` : '';
    return [{ at, message: `${namePath(at)} cannot be posted: ${message}${more}`, hint }];
  }
  const unknown = template.variables.filter((name) => !CHAT_FIGURES.some((figure) => figure === name));
  const [first] = unknown;
  if (first === undefined) return [];
  const nearest = suggestNearest(first, CHAT_FIGURES);
  return [
    {
      at,
      message: `${namePath(at)} names ${unknown.map((name) => JSON.stringify(cut(name))).join(', ')}, expected counts of the run: ${CHAT_FIGURES.join(', ')}`,
      hint:
        nearest === undefined ? 'A chat message is posted once and cannot use columns.' : `Did you mean ${nearest}?`,
    },
  ];
}
