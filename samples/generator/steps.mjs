import { CONTACT_FILES, CRM_CONTACT_FILES } from './contact-files.mjs';
import { CRM_RECIPIENT_FILES, RECIPIENT_FILES } from './recipient-files.mjs';

/**
 * A sample file: who is in it, how it is written, and how many of its rows are wrong in which way.
 *
 * @typedef {object} FileSpec
 * @property {string} path  in `samples/`; its ending says NDJSON and gzip
 * @property {number} rows
 * @property {string[]} countries  drawn from for each row
 * @property {string} [homeCountry]  half of the rows of this country leave their country empty
 * @property {string[]} styles  writings of a number, drawn from for each row
 * @property {Record<string, string>} columns  header as the file has it: the value that stands under it
 * @property {string} [delimiter]  of CSV; a comma
 * @property {string[]} [lineEnds]  drawn from for each row; LF
 * @property {'utf-8' | 'utf-8-bom' | 'utf-16le-bom' | 'windows-1252'} [encoding]  UTF-8 without a mark
 * @property {boolean} [quoteAll]
 * @property {number} [duplicates]  rows with the number of an accepted row of the same step
 * @property {number} [suppressed]  rows with a number of the opt-out list
 * @property {Record<string, number>} faults  fault (faults.mjs): number of rows
 */

/**
 * Steps of jobs/spring-sale.yaml, with the files they read in the order in which they read them.
 *
 * @type {{ step: number, kind: 'contacts' | 'sms', files: FileSpec[] }[]}
 */
export const STEPS = [
  { step: 1, kind: 'contacts', files: CONTACT_FILES },
  { step: 2, kind: 'contacts', files: CRM_CONTACT_FILES },
  { step: 3, kind: 'sms', files: RECIPIENT_FILES },
  { step: 4, kind: 'sms', files: CRM_RECIPIENT_FILES },
];
