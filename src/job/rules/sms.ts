import { UserError } from '../../domain/errors.js';
import { checkText } from '../../template/check-text.js';
import { replaceTypography } from '../../template/gsm7.js';
import { parseTemplate } from '../../template/parse.js';
import { type Finding, isMapping, namePath, type Path } from '../explain/finding.js';
import { listSteps, type WrittenStep } from '../explain/written-steps.js';

/** A fault of the text that affects every row is a fault of the job file, reported with its line. */
export function checkSmsTexts(job: unknown): Finding[] {
  return listSteps(job).flatMap((step) => (step.kind === 'sms' ? checkSmsText(step) : []));
}

function checkSmsText({ step, at: stepAt }: WrittenStep): Finding[] {
  const text = isMapping(step.template) ? step.template.text : undefined;
  if (typeof text !== 'string' || text === '') return [];
  const at = [...stepAt, 'template', 'text'];
  try {
    const { constant } = parseTemplate(text);
    return constant === undefined ? [] : checkConstant(constant, { at, template: step.template });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { message, hint } = error.problems[0] ?? error;
    const more = error.problems.length > 1 ? `, and ${error.problems.length - 1} more` : '';
    return [{ at, message: `${namePath(at)}: ${message}${more}`, hint }];
  }
}

/** What would reject each row that has a number. */
function checkConstant(constant: string, { at, template }: { at: Path; template: unknown }): Finding[] {
  const { encoding, smartReplace } = isMapping(template) ? template : {};
  const text = smartReplace === true ? (replaceTypography(constant)?.text ?? constant) : constant;
  const check = checkText(text, encoding === 'GSM7' || encoding === 'UCS2' ? encoding : 'AUTO');
  if (check.ok) return [];
  return [{ at, message: `${namePath(at)}: ${check.rejection.reason}` }];
}

/** Standard input is one file: it cannot be the recipients and those who get nothing. */
export function checkSmsLists(job: unknown): Finding[] {
  return listSteps(job).flatMap(({ kind, step, at }) => {
    if (kind !== 'sms') return [];
    const lists = [step.suppress].flat();
    const isRead = (input: unknown) => isMapping(input) && [input.files].flat().includes('-');
    if (!isRead(step.input) || !lists.some(isRead)) return [];
    const where = [...at, 'suppress'];
    const message = `${namePath(where)} and ${namePath([...at, 'input'])} both read standard input, expected one of them`;
    return [{ at: where, message, hint: 'Put one of them into a file.' }];
  });
}
