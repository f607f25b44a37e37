import type { SmsStep } from '../job/job.js';
import type { AcceptedNumber } from '../normalize/number-codes.js';
import type { BoundTemplate } from '../template/bind.js';
import { checkText, type TextCheck } from '../template/check-text.js';
import { parseTemplate, type Template } from '../template/parse.js';
import { bindDestination, type ReadDestination } from './destination.js';
import type { DraftRow, MessageDraft, RowDrafter } from './kind.js';

export interface SmsDrafter extends RowDrafter {
  /** The text of a template without variables, which the rows share; undefined where each has its own. */
  readonly sharedText: string | undefined;
}

/** Rows → number, text, length. Throws UserError 'bad-job' for a template that is none. */
export function createSmsDrafter({ destination, input, template: { text, encoding } }: SmsStep): SmsDrafter {
  const template = parseTemplate(text);
  const sharedText = template.isConstant ? renderShared(template) : undefined;
  const sharedCheck = sharedText === undefined ? undefined : checkText(sharedText, encoding);
  return {
    sharedText,
    bind: (columns, findColumn) => {
      const { read, problems } = bindDestination({ destination, input }, columns, findColumn);
      const bound = template.bind(columns, findColumn);
      if ('problems' in bound) return { problems: [...problems, ...bound.problems] };
      if (read === undefined) return { problems };
      return sharedCheck === undefined ? draftTexts(read, bound, encoding) : draftShared(read, sharedCheck);
    },
  };
}

/** A text without variables is rendered, checked and counted once. */
function renderShared(template: Template): string {
  const bound = template.bind([], () => undefined);
  const rendering = 'problems' in bound ? undefined : bound.render([]);
  return rendering?.ok === true ? rendering.text : '';
}

function draftShared(read: ReadDestination, check: TextCheck): DraftRow {
  return (cells) => {
    const number = read(cells);
    return number.e164 === undefined ? number : draftMessage(number, check, '');
  };
}

function draftTexts(
  read: ReadDestination,
  template: BoundTemplate,
  encoding: SmsStep['template']['encoding'],
): DraftRow {
  return (cells) => {
    const number = read(cells);
    if (number.e164 === undefined) return number;
    const rendering = template.render(cells);
    if (rendering.ok) return draftMessage(number, checkText(rendering.text, encoding), rendering.text);
    const { variable: field, code, reason } = rendering;
    return draftMessage(number, { ok: false, rejection: { stage: 'render', field, code, reason } }, '');
  };
}

function draftMessage({ e164, country }: AcceptedNumber, check: TextCheck, text: string): MessageDraft {
  if (!check.ok) return { e164, country, rejection: check.rejection, text: '', segments: 0, forcesUcs2: undefined };
  const { segments, firstUcs2Character: forcesUcs2 } = check.count;
  return { e164, country, rejection: undefined, text, segments, forcesUcs2 };
}
