/** Shares are whole tenths of a percent. */
const SHARE = /^(\d{1,2}(?:\.\d)?) ?%$/;

/** The percent of a text such as `5%`, `5 %` or `0.5%`; undefined for any other text. */
export function parseShare(text: string): number | undefined {
  const percent = Number(SHARE.exec(text)?.[1]);
  return percent > 0 ? percent : undefined;
}
