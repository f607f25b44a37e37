/**
 * Every code of a row and of a step without rows, with what it means and how to fix it in a few words, that can be followed in each kind
 * of step that has the code. The fuller reason is in
 * the output file, row by row. jobs/reference/outputs-and-codes.md lists the same codes.
 */

interface ReasonText {
  readonly is: string;
  /** '' when nothing can be done. */
  readonly fix: string;
}

const words = (is: string, fix = ''): ReasonText => ({ is, fix });

/** Why a number is refused. */
export const NUMBER_CODES = {
  empty: words('no number in the cell', 'fill it in, or remove the row'),
  placeholder: words('a placeholder', 'fill it in, or remove the row'),
  'spreadsheet-number': words('a spreadsheet changed it', 'export it as text'),
  'stray-apostrophe': words('an apostrophe around the number', 'remove it'),
  'stray-character': words('a character that belongs in no number', 'remove it'),
  letters: words('letters in place of digits', 'write 0 for O, 1 for l'),
  'lost-plus': words('the number lost its +', 'put it back'),
  'lost-zero': words('the number lost its leading 0', 'put it back'),
  'double-zero': words('00 may mean two numbers', 'write it with +'),
  'two-numbers': words('several numbers in the cell', 'keep one'),
  extension: words('the number has an extension', 'write it without'),
  'not-a-number': words('not a phone number', 'correct it; are columns shifted?'),
  'no-country': words('no + and no country', 'write the +, or set input.country'),
  'bad-country': words('no such country', 'write a code such as SG'),
  'unknown-calling-code': words('no such calling code', 'check what follows the +'),
  'too-short': words('the number has too few digits', 'correct it'),
  'too-long': words('the number has too many digits', 'correct it'),
  'bad-number': words('no such number in its country', 'check its digits'),
} as const;

/** Why a row is refused: by the plan, or without a request by its run. */
export const REJECTION_CODES = {
  'too-few-fields': words('fewer fields than the header', 'add the missing ones'),
  'too-many-fields': words('more fields than the header', 'put the cell in quotes'),
  'bad-json': words('the line is not valid JSON', 'correct the line'),
  'not-an-object': words('the line is not a JSON object', 'write one {…} a line'),
  'duplicate-key': words('a key occurs twice', 'keep one of them'),
  'forbidden-key': words('a key has a name that is not allowed', 'rename the column'),
  'number-loses-digits': words('a JSON number is too long', 'put it in quotes'),
  'lone-surrogate': words('half of a character', 'export the file again as UTF-8'),
  nul: words('a NUL character in the line', 'export the file again'),
  'cell-error': words('a cell of the sheet shows an error', 'correct its formula'),
  'no-formula-value': words('a formula without a value', 'open and save the file'),
  'no-time-zone': words('no time zone is known for the row', 'name it in a column (window.timeZone)'),
  'bad-filter-value': words('a filter cannot compare the cell', 'correct it'),
  'field-too-long': words('a value is too long', 'shorten it'),
  ...NUMBER_CODES,
  'no-address': words('the contact has no address', 'give it a number or an e-mail'),
  'bad-email': words('not an e-mail address', 'correct it, or leave it blank'),
  'control-character': words('a line break or control character', 'remove it'),
  'too-many-attributes': words('more than 50 attributes', 'map fewer columns'),
  'bad-group': words('not the ids of groups', 'write 1042; 1043'),
  'too-many-groups': words('more than 10 groups', 'name fewer'),
  'bad-id': words('the _rowId names no row to send', 'see its message in the file'),
  'bad-session-id': words('not the id of a session', 'use _sessionId of the results'),
  'bad-code': words('not a code', 'correct it'),
  'bad-object': words('user or history is malformed', 'correct the JSON'),
  'bad-language': words('not a language of the service', 'write a code such as en'),
  'nested-value': words('an object or a list in place of a text', 'write it as text'),
  'missing-value': words('a required cell is blank', 'fill it in; texts can default'),
  'bad-date': words('not a date as the text reads it', 'correct it, or say its form'),
  'not-rendered': words('the text could not be rendered', 'check the template'),
  'empty-text': words('the text is empty', 'check the template'),
  'not-gsm7': words('a character outside GSM-7', 'replace it, or set encoding: AUTO'),
  'text-too-long': words('the text has more than 10 parts', 'shorten it'),
  'not-checked': words('the session was over, no code was sent', 'start a new one'),
} as const;

/** Why a row is skipped. */
export const SKIP_CODES = {
  suppressed: words('on a suppression list'),
  'opted-out': words('opted out'),
  duplicate: words('duplicate'),
  filtered: words('left out by a filter'),
  'had-it-already': words('had this text already'),
  'too-often': words('had too many messages'),
  'no-time-zone': words('no time zone is known for the row'),
  retried: words('claimed by another plan'),
  'read-again': words('corrected in another file'),
} as const;

/** Why a planned row is not sent: it was withheld right before it would have been, for what the plan could not know. */
const WITHHELD_CODES = {
  'opted-out': words('opted out'),
  'had-it-already': words('had this text already'),
  'too-often': words('had too many messages'),
  'too-late': words('not sent by notAfter', 'retry it under a later one'),
} as const;

/** Skips that may not hold at another time: `volley retry --only` has their rows in a plan of their own. */
export const LEFT_OUT_CODES = ['filtered', 'had-it-already', 'too-often', 'no-time-zone'] as const;
export type LeftOutCode = (typeof LEFT_OUT_CODES)[number];

export function isLeftOutCode(code: string | undefined): code is LeftOutCode {
  return LEFT_OUT_CODES.some((each) => each === code);
}

/** How it is known that a row was not sent, and that its run will not send it. */
export const NOT_SENT_CODES = {
  ...WITHHELD_CODES,
  'assumed-not-sent': words('was in doubt; settled as not sent', 'retry it'),
  'given-up': words('given up for a retry', 'run volley retry again'),
  cancelled: words('taken back before it was sent', 'volley retry can send it'),
} as const;

/** Why a row is in doubt. */
export const DOUBT_CODES = {
  'no-answer': words('sent, and no answer came', 'settle it'),
  'run-ended': words('sent, and the run ended before the answer', 'settle it'),
  'with-workers': words('with workers', 'the same command finds out their outcome'),
  'unreadable-answer': words('an answer that cannot be read', 'settle it'),
  'foreign-answer': words('an answer for something else', 'settle it'),
  'not-accounted-for': words('the answer omits the row', 'settle it'),
  'no-message-results': words('the answer gives only a count', 'settle it'),
  contradiction: words('the service contradicts itself', 'settle it'),
  'unknown-status': words('a status that Volley does not know', 'settle it'),
  cancelling: words('a cancel was sent, and no answer came', 'settle it'),
  'partly-cancelled': words('a cancel took back a part of its batch', 'settle it'),
} as const;

/** What became of a step without rows. */
export const ACTION_CODES = {
  'not-as-expected': words('the campaign has another status', 'check it'),
  'impossible-change': words('the campaign does not allow the change', 'check it'),
  'not-sent': words('the run was stopping'),
} as const;

const LATER = 'volley retry, later';

/** The service's own; it may have others. */
const SERVICE_CODES = {
  REJECTED: words('the service refused the message', 'see its message in the file'),
  1000: words('the service refuses a parameter', 'see its message in the file'),
  1001: words('the service knows no such subaccount', 'check service.subAccountId'),
  1002: words('the service refuses the number', 'check its digits'),
  1003: words('the service refuses the encoding', 'check template.encoding'),
  1004: words('the service refuses the text', 'check the template'),
  1005: words('the service refuses the sender', 'check the source of the step'),
  1006: words('the service refuses the expiry', 'check template.expiry'),
  1007: words('the service refuses the template', 'check the template'),
  1009: words('the service refuses the country', 'ask the service to open it'),
  1011: words('the service refuses the schedule', 'check template.scheduled'),
  1100: words('too much at once for the service', LATER),
  1300: words('the service does not find it', 'check the id, or service.bases'),
  1400: words('the number got a code a moment ago', LATER),
  3009: words('the service refuses an id', 'see its message in the file'),
  3011: words('the service refuses the sender', 'check the source of the step'),
  3012: words('the service refuses a message', 'see its message in the file'),
  3013: words('the service refuses the messages', 'check batchSize'),
  3014: words('the service already has this id', 'see its message in the file'),
  3020: words('the service refuses the receipt address', 'check dlrCallbackUrl'),
  409: words('several contacts have this address', 'merge them by hand'),
  WAITING: words('the code was wrong', 'ask the person again'),
  FAILED: words('too many wrong codes', 'start a new verification'),
  EXPIRED: words('the code came too late', 'start a new verification'),
} as const;

export type NumberCode = keyof typeof NUMBER_CODES;
export type RejectionCode = keyof typeof REJECTION_CODES;
export type SkipCode = keyof typeof SKIP_CODES;
export type NotSentCode = keyof typeof NOT_SENT_CODES;
export type DoubtCode = keyof typeof DOUBT_CODES;
export type ActionCode = keyof typeof ACTION_CODES;

export const ROW_CODES: Readonly<Record<string, ReasonText>> = {
  ...REJECTION_CODES,
  ...SKIP_CODES,
  ...NOT_SENT_CODES,
  ...DOUBT_CODES,
  ...SERVICE_CODES,
};

/** The service refused the row for when it came: there is nothing to correct. */
export function isRefusedForNow(code: string): boolean {
  return Object.hasOwn(ROW_CODES, code) && ROW_CODES[code]?.fix === LATER;
}

export function isWithheld(code: string): boolean {
  return Object.hasOwn(WITHHELD_CODES, code);
}

/** The words of a code. `said`: the service's own message, for a code of its own, or what a cell should be that a filter cannot compare. */
export function wordsOf(code: string, said: string): ReasonText {
  const known = Object.hasOwn(ROW_CODES, code) ? ROW_CODES[code] : undefined;
  if (code === 'bad-filter-value' && said !== '') return words(known?.is ?? '', said);
  return known ?? words(said === '' ? 'refused' : `the service says: ${said}`, 'see the reasons in the file');
}
