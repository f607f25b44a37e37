import { type Cell, joinFaults, type Rejection } from '../../domain/row.js';
import type { SmsStep } from '../../job/job.js';
import type { Columns } from '../../normalize/columns.js';
import type { NumberDigits } from '../../normalize/number/number-fast.js';
import type { BoundTemplate, RefusedRendering } from '../../template/bind-template.js';
import { checkText, type TextCheck } from '../../template/check-text.js';
import { omitReplaceable, replaceTypography } from '../../template/gsm7.js';
import type { RenderFault } from '../../template/missing.js';
import { parseTemplate } from '../../template/parse.js';
import type { SegmentCount } from '../../template/segments.js';
import { appendDestination, appendNumber, bindNumber, type ReadNumber } from '../row-number.js';
import { type DraftRow, type DraftText, type RowDraft, reject } from '../step-kind.js';

/** The text of a template without variables, which the rows share; undefined where each has its own. Throws UserError 'bad-job' for an invalid template. */
export function findSharedText({ template: { text, smartReplace } }: SmsStep): string | undefined {
  const { constant } = parseTemplate(text);
  return constant === undefined ? undefined : shareText(constant, smartReplace).text;
}

function shareText(text: string, smartReplace = false): { readonly text: string; readonly replaced?: string } {
  return (smartReplace ? replaceTypography(text) : undefined) ?? { text };
}

/** Rows → number, text, length. */
export function bindSms(step: SmsStep, columns: Columns): DraftRow {
  const { encoding, smartReplace = false } = step.template;
  const index = columns.find(step.destination, 'destination');
  const read = bindNumber({ column: step.destination, index }, step.input, columns);
  const template = parseTemplate(step.template.text);
  const bound = template.bind(columns);
  if (template.constant !== undefined) {
    const { text, replaced } = shareText(template.constant, smartReplace);
    return draftShared(read, checkText(text, encoding), { replaced, smartReplace });
  }
  return draftTexts(read, smartReplace ? replaceIn(bound) : bound, { encoding, smartReplace });
}

/** The same template; its texts come with what was replaced in them. */
function replaceIn(template: BoundTemplate): BoundTemplate {
  return {
    ...template,
    render: (cells) => {
      const rendering = template.render(cells);
      return rendering.ok ? { ...rendering, ...replaceTypography(rendering.text) } : rendering;
    },
  };
}

function draftShared(
  read: ReadNumber,
  check: TextCheck,
  { replaced, smartReplace }: { replaced: string | undefined; smartReplace: boolean },
): DraftRow {
  const count = check.ok ? nameForcing(check.count, smartReplace) : undefined;
  return (cells, text) => {
    const number = read(cells);
    if (!('digits' in number)) return rejectNumber(number, check.ok ? [] : [check.rejection]);
    if (!check.ok) return rejectMessage(number, check.rejection);
    appendDestination(text.fragment, number.digits);
    return endMessage(number, count ?? check.count, text, replaced);
  };
}

function draftTexts(
  read: ReadNumber,
  template: BoundTemplate,
  { encoding, smartReplace }: { encoding: SmsStep['template']['encoding']; smartReplace: boolean },
): DraftRow {
  const byBytes = encoding === 'UCS2' ? undefined : template.byBytes;
  return (cells, text) => {
    const { fragment } = text;
    const number = read(cells);
    if (!('digits' in number)) return rejectNumber(number, checkRendering(template, encoding, cells.texts));
    if (byBytes?.isOnePart(cells) === true) {
      appendDestination(fragment, number.digits);
      fragment.appendShort(',"text":');
      byBytes.write(cells, fragment);
      return endMessage(number, ONE_PART, text, undefined);
    }
    const rendering = template.render(cells.texts);
    if (!rendering.ok) {
      const [fault, ...others] = rejectRendering(rendering);
      return rejectMessage(number, joinFaults(fault, others));
    }
    const check = checkText(rendering.text, encoding);
    if (!check.ok) return rejectMessage(number, check.rejection);
    appendDestination(fragment, number.digits);
    fragment.append(`,"text":${JSON.stringify(rendering.text)}`);
    return endMessage(number, nameForcing(check.count, smartReplace), text, rendering.replaced);
  };
}

const ONE_PART = { segments: 1, extraParts: 0, ucs2Characters: undefined };

/** Without the characters that are replaced as soon as the others are gone. */
function nameForcing(count: SegmentCount, smartReplace: boolean): SegmentCount {
  const { ucs2Characters } = count;
  return smartReplace && ucs2Characters !== undefined
    ? { ...count, ucs2Characters: omitReplaceable(ucs2Characters) }
    : count;
}

/** Why the text of a row cannot be sent, whatever its number. */
function checkRendering(
  template: BoundTemplate,
  encoding: SmsStep['template']['encoding'],
  cells: readonly Cell[],
): Rejection[] {
  const rendering = template.render(cells);
  if (!rendering.ok) return rejectRendering(rendering);
  const check = checkText(rendering.text, encoding);
  return check.ok ? [] : [check.rejection];
}

function rejectRendering(rendering: RefusedRendering): [Rejection, ...Rejection[]] {
  const reject = ({ variable: field, code, reason }: RenderFault): Rejection => ({
    stage: 'render',
    field,
    code,
    reason,
  });
  return [reject(rendering), ...rendering.others.map(reject)];
}

function endMessage(
  { digits, country }: NumberDigits,
  { segments, extraParts, ucs2Characters: forcesUcs2 }: Omit<SegmentCount, 'encoding' | 'units'>,
  { facts }: DraftText,
  replaced: string | undefined,
): RowDraft {
  appendNumber(facts, digits);
  facts.appendShort(',"');
  facts.appendInteger(segments);
  facts.appendShort('"');
  if (replaced !== undefined) facts.append(`,${JSON.stringify(replaced)}`);
  return { number: digits, country, segments, extraParts, forcesUcs2, replaced };
}

function rejectMessage({ digits, country }: NumberDigits, rejection: Rejection): RowDraft {
  return { number: digits, country, refusal: reject(rejection) };
}

/** With the faults of the text as well. */
function rejectNumber(
  [fault, ...others]: readonly [Rejection, ...Rejection[]],
  ofText: readonly Rejection[],
): RowDraft {
  return { refusal: reject(joinFaults(fault, [...others, ...ofText])) };
}
