import { cut, type Finding } from './finding.js';

/** `text:` followed by neither a quote nor a block, and the rest of its line. */
const TEXT_KEY = /(^\s*(?:-\s+)?|[{,]\s*)(text|template)(\s*:\s+)((?!\{(?![{%]))[^\s"'|>&*#][^\n]*)$/;
/** What only quoted text may hold. */
const NEEDS_QUOTES = /\{\{|\{%|:\s/;

/**
 * The commonest beginner's fault: an unquoted text with {{ }} or a colon, which YAML reads as something else. Call it
 * when a job cannot be used: follow-up faults are on the same line.
 */
export function findUnquotedText(text: string): (Finding & { readonly at: number; readonly end: number }) | undefined {
  let start = 0;
  for (const line of text.split('\n')) {
    const [found = '', before = '', key = '', , rest = ''] = TEXT_KEY.exec(line) ?? [];
    // In braces the next key ends it, or the brace.
    const isInBraces = /[{,]/.test(before);
    const [first = '', ...others] = isInBraces ? rest.split(/, {0,4}\w{1,40}:\s/) : [rest];
    const end = first.trimEnd();
    const written = isInBraces && others.length === 0 ? end.replace(/\}$/, '').trimEnd() : end;
    if (NEEDS_QUOTES.test(written)) {
      return {
        at: start + line.length - found.length + before.length,
        end: start + line.length,
        message: `${key} is not in quotes, expected quotes around a text with {{ }} or a colon`,
        hint: `Put the text in quotes: ${key}: ${quote(cut(written))}`,
      };
    }
    start += line.length + 1;
  }
  return undefined;
}

function quote(text: string): string {
  return text.includes('"') ? `'${text.replaceAll("'", "''")}'` : `"${text.replaceAll('\\', '\\\\')}"`;
}
