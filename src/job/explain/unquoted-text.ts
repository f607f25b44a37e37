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
    const found = TEXT_KEY.exec(line);
    const value = found?.[4] ?? '';
    if (found !== null && NEEDS_QUOTES.test(value)) {
      const isInBraces = found[1]?.trim().startsWith('{') || found[1]?.trim().startsWith(',');
      const written = isInBraces ? value.trimEnd().replace(/\}$/, '').trimEnd() : value.trimEnd();
      const at = start + found.index + (found[1]?.length ?? 0);
      return {
        at,
        end: start + line.length,
        message: `${found[2]} is not in quotes, expected quotes around a text with {{ }} or a colon`,
        hint: `Put the text in quotes: ${found[2]}: ${quote(cut(written))}`,
      };
    }
    start += line.length + 1;
  }
  return undefined;
}

function quote(text: string): string {
  return text.includes('"') ? `'${text.replaceAll("'", "''")}'` : `"${text.replaceAll('\\', '\\\\')}"`;
}
