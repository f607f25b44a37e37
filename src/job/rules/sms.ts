import { UserError } from '../../domain/errors.js';
import { parseTemplate } from '../../template/parse.js';
import { type Finding, namePath } from '../explain/finding.js';
import { isMapping, listSteps, type WrittenStep } from '../explain/written-steps.js';

/** A fault of the text that affects every row is a fault of the job file, reported with its line. */
export function checkSmsTexts(job: unknown): Finding[] {
  return listSteps(job).flatMap((step) => (step.kind === 'sms' ? checkSmsText(step) : []));
}

function checkSmsText({ step, at: stepAt }: WrittenStep): Finding[] {
  const text = isMapping(step.template) ? step.template.text : undefined;
  if (typeof text !== 'string' || text === '') return [];
  const at = [...stepAt, 'template', 'text'];
  try {
    parseTemplate(text);
    return [];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { message, hint } = error.problems[0] ?? error;
    const more = error.problems.length > 1 ? `, and ${error.problems.length - 1} more` : '';
    return [{ at, message: `${namePath(at)}: ${message}${more}`, hint }];
  }
}
