import type { Cell, Rejection } from '../../domain/row.js';
import type { SmsStep } from '../../job/job.js';
import { joinFaults } from '../../normalize/join-faults.js';
import type { NumberDigits } from '../../normalize/number/number-fast.js';
import type { BoundTemplate, RenderFault } from '../../template/bind-template.js';
import { checkText, type TextCheck } from '../../template/check-text.js';
import { omitReplaceable, replaceTypography } from '../../template/gsm7.js';
import { parseTemplate } from '../../template/parse.js';
import type { SegmentCount } from '../../template/segments.js';
import type { DraftRow, DraftText, MessageDraft, RefusedDraft, RowDrafter } from '../step-kind.js';
import {
  appendDestination,
  appendNumber,
  bindDestination,
  type ReadDestination,
  type RefusedDestination,
} from './sms-destination.js';

export interface SmsDrafter extends RowDrafter {
  /** The text of a template without variables, which the rows share; undefined where each has its own. */
  readonly sharedText: string | undefined;
}

/** Rows → number, text, length. Throws UserError 'bad-job' for an invalid template. */
export function createSmsDrafter({ destination, input, template: sms }: SmsStep): SmsDrafter {
  const { encoding, smartReplace = false } = sms;
  const replace = smartReplace ? replaceTypography : () => undefined;
  const template = parseTemplate(sms.text);
  const { constant } = template;
  const shared = constant === undefined ? undefined : (replace(constant) ?? { text: constant, replaced: undefined });
  const sharedText = shared?.text;
  const sharedCheck = sharedText === undefined ? undefined : checkText(sharedText, encoding);
  return {
    sharedText,
    bind: (columns, findColumn) => {
      const { read, problems } = bindDestination({ destination, input }, columns, findColumn);
      const bound = template.bind(columns, findColumn);
      if ('problems' in bound) {
        const ofText = bound.problems.map((problem) => ({ ...problem, at: ['template', 'text'] }));
        return { problems: [...problems, ...ofText] };
      }
      if (read === undefined) return { problems };
      if (sharedCheck !== undefined)
        return draftShared(read, sharedCheck, { characters: shared?.replaced, smartReplace });
      return draftTexts(read, smartReplace ? replaceIn(bound) : bound, { encoding, smartReplace });
    },
  };
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
  read: ReadDestination,
  check: TextCheck,
  { characters, smartReplace }: { characters: string | undefined; smartReplace: boolean },
): DraftRow {
  const replaced = noteReplaced(characters);
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
  read: ReadDestination,
  template: BoundTemplate,
  { encoding, smartReplace }: { encoding: SmsStep['template']['encoding']; smartReplace: boolean },
): DraftRow {
  // What the bytes hold beyond GSM-7 may have to be refused, or replaced.
  const mayBeUcs2 = encoding === 'AUTO' && !smartReplace;
  const replacing = smartReplace ? template.byReplacedBytes : undefined;
  const plain = smartReplace ? replacing : template.byBytes;
  const byBytes = encoding === 'UCS2' ? undefined : plain;
  const replaced = noteReplaced(replacing?.replaced);
  return (cells, text) => {
    const { fragment } = text;
    const number = read(cells);
    if (!('digits' in number)) return rejectNumber(number, checkRendering(template, encoding, cells.texts));
    const { asBytes } = cells;
    const counted = asBytes && byBytes?.count(asBytes);
    if (asBytes !== undefined && counted !== undefined && (mayBeUcs2 || counted.ucs2Characters === undefined)) {
      appendDestination(fragment, number.digits);
      fragment.appendShort(',"text":');
      byBytes?.write(asBytes, fragment);
      return endMessage(number, counted, text, replaced);
    }
    const rendering = template.render(cells.texts);
    if (!rendering.ok) return rejectMessage(number, joinRendering(rendering, template, cells.texts));
    const check = checkText(rendering.text, encoding);
    if (!check.ok) return rejectMessage(number, check.rejection);
    appendDestination(fragment, number.digits);
    fragment.append(`,"text":${JSON.stringify(rendering.text)}`);
    return endMessage(number, nameForcing(check.count, smartReplace), text, noteReplaced(rendering.replaced));
  };
}

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
  if (!rendering.ok) return [rendering, ...template.listFaults(cells)].map(rejectRendering);
  const check = checkText(rendering.text, encoding);
  return check.ok ? [] : [check.rejection];
}

function joinRendering(fault: RenderFault, template: BoundTemplate, cells: readonly Cell[]): Rejection {
  return joinFaults(rejectRendering(fault), template.listFaults(cells).map(rejectRendering));
}

function rejectRendering({ variable: field, code, reason }: RenderFault): Rejection {
  return { stage: 'render', field, code, reason };
}

function endMessage(
  { digits, country }: NumberDigits,
  { segments, extraParts, ucs2Characters: forcesUcs2 }: Omit<SegmentCount, 'encoding' | 'units'>,
  { facts }: DraftText,
  replaced: Replaced | undefined,
): MessageDraft {
  appendNumber(facts, digits);
  facts.appendShort(',"');
  facts.appendInteger(segments);
  facts.appendShort('"');
  if (replaced !== undefined) facts.appendBytes(replaced.fact);
  const characters = replaced?.characters;
  return { number: digits, country, rejection: undefined, segments, extraParts, forcesUcs2, replaced: characters };
}

interface Replaced {
  /** Each once. */
  readonly characters: string;
  /** What a row's facts have of them. */
  readonly fact: Uint8Array;
}

function noteReplaced(characters: string | undefined): Replaced | undefined {
  return characters === undefined ? undefined : { characters, fact: Buffer.from(`,${JSON.stringify(characters)}`) };
}

function rejectMessage({ digits, country }: NumberDigits, rejection: Rejection): MessageDraft {
  return { number: digits, country, rejection, segments: 0, extraParts: 0, forcesUcs2: undefined };
}

/** With the faults of the text as well. */
function rejectNumber({ fault, others }: RefusedDestination, ofText: readonly Rejection[]): RefusedDraft {
  return { number: undefined, rejection: joinFaults(fault, [...others, ...ofText]) };
}
