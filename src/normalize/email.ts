const MAX_LOCAL = 64;
const MAX_LABEL = 63;

/**
 * Whether a text has the form of a personal address: one @, a domain of two labels or more, no blanks, quotes or
 * brackets. Linear in the length of the text. Does not check that the address exists.
 */
export function isPlausibleEmail(text: string): boolean {
  const at = text.indexOf('@');
  const local = text.slice(0, at);
  const labels = text.slice(at + 1).split('.');
  if (at < 1 || local.length > MAX_LOCAL || labels.length < 2) return false;
  if (!/^[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]+$/u.test(local)) return false;
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..')) return false;
  return labels.every(isLabel) && !/^\d+$/.test(labels.at(-1) ?? '');
}

function isLabel(label: string): boolean {
  if (label === '' || label.length > MAX_LABEL || label.startsWith('-') || label.endsWith('-')) return false;
  return /^[\p{L}\p{M}\p{N}-]+$/u.test(label);
}
