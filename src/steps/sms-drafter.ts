import type { Rejection } from '../domain.js';
import type { SmsStep } from '../job/job.js';
import type { AcceptedNumber } from '../normalize/number-codes.js';
import type { BoundTemplate } from '../template/bind.js';
import { checkText, type TextCheck } from '../template/check-text.js';
import { parseTemplate, type Template } from '../template/parse.js';
import type { SegmentCount } from '../template/segments.js';
import type { TextBuffer } from '../text-buffer.js';
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
  return (cells, fragment) => {
    const number = read(cells);
    if (number.e164 === undefined) return number;
    if (!check.ok) return rejectMessage(number, check.rejection);
    appendDestination(fragment, number);
    return draftMessage(number, check.count);
  };
}

function draftTexts(
  read: ReadDestination,
  template: BoundTemplate,
  encoding: SmsStep['template']['encoding'],
): DraftRow {
  const short = encoding === 'UCS2' ? undefined : template.short;
  return (cells, fragment) => {
    const number = read(cells);
    if (number.e164 === undefined) return number;
    if (short?.fits(cells)) {
      appendDestination(fragment, number);
      fragment.appendShort(',"text":');
      short.write(cells, fragment);
      return draftMessage(number, ONE_PART);
    }
    const rendering = template.render(cells);
    if (!rendering.ok) {
      const { variable: field, code, reason } = rendering;
      return rejectMessage(number, { stage: 'render', field, code, reason });
    }
    const check = checkText(rendering.text, encoding);
    if (!check.ok) return rejectMessage(number, check.rejection);
    appendDestination(fragment, number);
    fragment.append(`,"text":${JSON.stringify(rendering.text)}`);
    return draftMessage(number, check.count);
  };
}

const ONE_PART = { segments: 1, firstUcs2Character: undefined };

function appendDestination(fragment: TextBuffer, { e164 }: AcceptedNumber): void {
  fragment.appendShort('{"destination":"');
  fragment.appendShort(e164);
  fragment.appendShort('"');
}

function draftMessage(
  { e164, country }: AcceptedNumber,
  { segments, firstUcs2Character: forcesUcs2 }: Pick<SegmentCount, 'segments' | 'firstUcs2Character'>,
): MessageDraft {
  return { e164, country, rejection: undefined, facts: [e164, String(segments)], segments, forcesUcs2 };
}

function rejectMessage({ e164, country }: AcceptedNumber, rejection: Rejection): MessageDraft {
  return { e164, country, rejection, facts: [], segments: 0, forcesUcs2: undefined };
}
