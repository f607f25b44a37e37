export type LanguageResult =
  | { readonly ok: true; readonly language: string }
  | { readonly ok: false; readonly code: 'bad-language'; readonly reason: string };

/** Longer than any code; longer texts are not quoted. */
const MAX_QUOTED = 40;
const SHOWN = 3;

/**
 * A reader of language codes, given those that the service knows. Accepts any case, `_` for `-`, and a country or
 * script that the service does not distinguish: `EN`, `zh_cn`, `en-GB`. Refuses any other; if the service has several
 * of the language (`zh`), the reason lists them.
 */
export function createLanguageReader(known: readonly string[]): (text: string) => LanguageResult {
  const byFolded = new Map(known.map((code) => [fold(code), code]));
  return (text) => {
    const folded = fold(text);
    const base = /^([a-z]{2,3})(?:-[a-z0-9]{2,8})*$/.exec(folded)?.[1];
    const language = byFolded.get(folded) ?? (base === undefined ? undefined : byFolded.get(base));
    if (language !== undefined) return { ok: true, language };
    const related = known.filter((code) => base !== undefined && fold(code).startsWith(`${base}-`));
    return { ok: false, code: 'bad-language', reason: describe(text.trim(), related, known) };
  };
}

function fold(text: string): string {
  return text.trim().replaceAll('_', '-').toLowerCase();
}

function describe(text: string, related: readonly string[], known: readonly string[]): string {
  const what = text.length <= MAX_QUOTED && !/\p{C}/u.test(text) ? `"${text}"` : 'The value';
  const expected = related.length > 0 ? related.join(' or ') : `a code such as ${known.slice(0, SHOWN).join(', ')}`;
  return `${what} is not one of the contact center's languages, expected ${expected}.`;
}
