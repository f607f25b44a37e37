import { remember } from '../domain/is-object.js';

/**
 * The format of a file's numbers: how it writes 1234.56, such as `1.234,56`. The separator of thousands may be absent, in the format
 * and in each number.
 */
const FORMAT = /^1([.,'’ ]?)234([.,])56$/;
/** What separates thousands or decimals, as a pattern: for a blank and an apostrophe also the typographic ones. */
const SEPARATORS: Readonly<Record<string, string>> = {
  '.': '\\.',
  ',': ',',
  "'": "['’]",
  '’': "['’]",
  ' ': '[ \\u00a0\\u2009\\u202f]',
};

/** The fault of a number format; undefined if it is valid. */
export function findBadNumberFormat(format: string): string | undefined {
  const [match, thousands, decimal] = FORMAT.exec(format) ?? [];
  if (match !== undefined && thousands !== decimal) return undefined;
  return 'expected how the file writes 1234.56, such as "1.234,56", "1,234.56" or "1 234,56"';
}

/** Writes a number with a point and no separators of thousands; undefined for what is not written by a valid `format`. */
export function rewriteNumber(text: string, format: string): string | undefined {
  const [match, sign, whole = '', fraction] = compile(format).exec(text.trim()) ?? [];
  if (match === undefined) return undefined;
  return `${sign}${whole.replace(/\D/g, '')}${fraction === undefined ? '' : `.${fraction}`}`;
}

const compiled = new Map<string, RegExp>();

/** Compiles a format once: there are a dozen. */
function compile(format: string): RegExp {
  return remember(compiled, format, () => {
    const [, thousands = '', decimal = '.'] = FORMAT.exec(format) ?? [];
    const separator = SEPARATORS[thousands];
    const grouped = separator === undefined ? '' : String.raw`\d{1,3}(?:${separator}\d{3})+|`;
    return new RegExp(String.raw`^([+-]?)(${grouped}\d+)(?:${SEPARATORS[decimal]}(\d+))?$`);
  });
}
