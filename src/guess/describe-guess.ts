import { countOf, format } from '../domain/count-of.js';
import type { ConsentGuess } from './guess-consent.js';
import type { JobGuess, NamedColumn } from './guess-job.js';
import type { NumberGuess } from './guess-number.js';

/** What a guess rests on, as counts: for comments of the job and for the account. A cell of the file is never among it. */
export function describeNumber({ valid, notMobile }: NumberGuess, { rows }: Pick<JobGuess, 'rows'>): string {
  return `a valid number in ${format(valid)} of ${countOf(rows, 'row')}${warnOfLandlines(notMobile)}`;
}

/** `; 5 of them are landlines or the like: an SMS may not arrive there`; '' where there are none. */
export function warnOfLandlines(notMobile: number): string {
  const are = notMobile === 1 ? 'is a landline' : 'are landlines';
  return notMobile === 0 ? '' : `; ${format(notMobile)} of them ${are} or the like: an SMS may not arrive there`;
}

/** Which country numbers without + are read in, and why; undefined where no number needs one. */
export function describeCountry({ country, countryColumn, tried, withPlus, valid }: NumberGuess): string | undefined {
  if (tried === undefined) {
    if (countryColumn !== undefined) return `says the country of ${countOf(valid - withPlus, 'number')} without +`;
    return country === undefined ? undefined : `the country of ${countOf(valid - withPlus, 'number')} without +`;
  }
  const [best] = tried.best;
  const named = tried.best.map((each) => `${each.country} ${format(each.valid)}`).join(', ');
  const of = `of ${countOf(tried.tried, 'number')} without +`;
  if (tried.lostPlus.length > 0) {
    const ofCountries = tried.lostPlus.map((each) => `${each.country} ${format(each.valid)}`).join(', ');
    return `${of}, so many are numbers with a + in front, which a spreadsheet takes off: ${ofCountries}`;
  }
  if (tried.found === undefined) {
    return best === undefined ? `${of} none is valid in any country` : `${of}, so many would be valid: ${named}`;
  }
  if (tried.isOfOthers) return `as most other numbers; valid for ${format(tried.found.valid)} ${of}`;
  const next = tried.best.find((each) => each.country !== tried.found?.country);
  const others = next === undefined ? '' : `; next: ${next.country} ${format(next.valid)}`;
  return `valid for ${format(tried.found.valid)} ${of}${others}`;
}

export function describeFilled({ filled }: NamedColumn, { rows }: Pick<JobGuess, 'rows'>): string {
  return `not blank in ${format(filled)} of ${countOf(rows, 'row')}`;
}

export function describeConsent(
  { value, isBlank, rows: of, isOfMail }: ConsentGuess,
  { rows }: Pick<JobGuess, 'rows'>,
): string {
  const said = isBlank ? 'blank' : value === undefined ? 'a yes' : JSON.stringify(value);
  return `${said} in ${format(of)} of ${countOf(rows, 'row')}${isOfMail ? ', but that is about e-mail' : ''}`;
}
