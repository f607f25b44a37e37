import type { ByteCells } from '../../domain/bytes/row-block.js';
import type { TextBuffer } from '../../domain/bytes/text-buffer.js';
import { joinFaults, type Rejection } from '../../domain/row.js';
import type { SmsStep } from '../../job/job.js';
import type { Columns } from '../../normalize/columns.js';
import type { NumberDigits } from '../../normalize/number/number-fast.js';
import type { RefusedRendering } from '../../template/bind-template.js';
import { checkText } from '../../template/check-text.js';
import type { RenderFault } from '../../template/missing.js';
import { parseTemplate } from '../../template/parse.js';
import { omitReplaceable, replaceTypography, type SegmentCount } from '../../template/segments.js';
import { appendDestination, appendNumber, bindNumber } from '../row-number.js';
import { type DraftRow, type RowDraft, reject } from '../step-kind.js';

/** The text of a template without variables, which the rows share; undefined where each has its own. Throws UserError 'bad-job' for an invalid template. */
export function findSharedText({ template: { text, smartReplace } }: SmsStep): string | undefined {
  const { constant } = parseTemplate(text);
  return constant === undefined ? undefined : replaceIn(constant, smartReplace).text;
}

function replaceIn(text: string, smartReplace = false): { readonly text: string; readonly replaced?: string } {
  return (smartReplace ? replaceTypography(text) : undefined) ?? { text };
}

/** The length of a text that can be sent, or why it cannot, whatever the number. */
type CheckedText =
  | { readonly count: SegmentCount; readonly replaced: string | undefined }
  | readonly [Rejection, ...Rejection[]];

/** Rows → number, text, length. */
export function bindSms(step: SmsStep, columns: Columns): DraftRow {
  const { encoding, smartReplace = false } = step.template;
  const index = columns.find(step.destination, 'destination');
  const readNumber = bindNumber({ column: step.destination, index }, step.input, columns);
  const template = parseTemplate(step.template.text);
  const { render } = template.bind(columns);
  const check = ({ text, replaced }: ReturnType<typeof replaceIn>): CheckedText => {
    const checked = checkText(text, encoding);
    return checked.ok ? { count: nameForcing(checked.count, smartReplace), replaced } : [checked.rejection];
  };
  const writeText = (cells: ByteCells, json: TextBuffer): CheckedText => {
    const start = json.length;
    const rendering = render(cells, json);
    if (!rendering.ok) return rejectRendering(rendering);
    const text = replaceIn(rendering.text, smartReplace);
    if (text.replaced !== undefined) {
      json.endAt(start);
      json.append(JSON.stringify(text.text));
    }
    return check(text);
  };
  const shared = template.constant === undefined ? undefined : check(replaceIn(template.constant, smartReplace));
  return (cells, fragment) => {
    const start = fragment.length;
    const number = readNumber(cells);
    if ('digits' in number) appendDestination(fragment, number.digits);
    if (shared === undefined) fragment.appendShort(',"text":');
    const text = shared ?? writeText(cells, fragment);
    if ('digits' in number && 'count' in text) return endMessage(number, text, fragment);
    fragment.endAt(start);
    if (!('digits' in number)) return refuseRow(undefined, [...number, ...('count' in text ? [] : text)]);
    return refuseRow(number, text as readonly [Rejection, ...Rejection[]]);
  };
}

/** Omits characters that force UCS-2 now, but are replaced as soon as the others are gone. */
function nameForcing(count: SegmentCount, smartReplace: boolean): SegmentCount {
  const { ucs2Characters } = count;
  return smartReplace && ucs2Characters !== undefined
    ? { ...count, ucs2Characters: omitReplaceable(ucs2Characters) }
    : count;
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
  { count, replaced }: Extract<CheckedText, { readonly count: SegmentCount }>,
  text: TextBuffer,
): RowDraft {
  const { segments, extraParts, ucs2Characters: forcesUcs2 } = count;
  const factsAt = text.length;
  appendNumber(text, digits);
  text.appendShort(',"');
  text.appendInteger(segments);
  text.appendShort('"');
  if (replaced !== undefined) text.append(`,${JSON.stringify(replaced)}`);
  return { number: digits, country, segments, extraParts, forcesUcs2, replaced, factsAt };
}

/** Refuses a row with all its faults; that of a number comes first. */
function refuseRow(
  number: NumberDigits | undefined,
  [fault, ...others]: readonly [Rejection, ...Rejection[]],
): RowDraft {
  return { number: number?.digits, country: number?.country, refusal: reject(joinFaults(fault, others)) };
}
