import { type Html, html, NOTHING } from '../../report/page/html.js';
import { NO_VISIT, type Visit } from '../access.js';
import type { CampaignJob } from '../campaign.js';
import type { Printed, PrintedProblem } from '../commands.js';

/** Who looks at a page, what it is about, and what is wrong on it. */
export interface View extends Visit {
  /** Where its forms lead: `/c/sale`; '' on a page about no campaign. */
  readonly at: string;
  readonly campaign: (Pick<CampaignJob, 'isSandbox' | 'account' | 'sha256'> & { readonly name: string }) | undefined;
  readonly wrong: readonly Wrong[];
  /** What a form had that is refused: its fields keep it. */
  readonly written: Readonly<Record<string, unknown>>;
}

export const NO_VIEW: View = { ...NO_VISIT, at: '', campaign: undefined, wrong: [], written: {} };

/** One thing that is wrong. `field`: the id of what is to be changed on this page. */
export interface Wrong {
  readonly message: string;
  readonly hint?: string | null;
  readonly field?: string;
  /** The key of the job file; no page shows it. */
  readonly key?: string | null;
  /** The status of the page, where it is not 422. */
  readonly status?: number;
}

export function renderWrong(wrong: readonly Wrong[]): Html {
  if (wrong.length === 0) return NOTHING;
  const items = wrong.map((each, at) => {
    const { field } = each;
    // Said once for several in a row.
    const hint = each.hint === wrong[at + 1]?.hint ? undefined : each.hint;
    const plain = sayPlainly(each.message, each);
    const said = field === undefined ? plain : html`<a href="#${field}">${plain}</a>`;
    return html`<li>${said}${hint ? html`<br>${sayHint(hint)}` : NOTHING}</li>`;
  });
  return html`<div class="wrong" role="alert" aria-labelledby="wrong"><h2 id="wrong">There is a problem</h2><ul>${items}</ul></div>
`;
}

/** Keys of a job file, and where these pages have what is there; the longer one first. */
const FIELDS: readonly (readonly [key: string, field: string])[] = [
  ['template.text', '“Text” at Message'],
  ['template.source', '“From” at Message'],
  ['template.scheduled', '“At a time” at When'],
  ['window', '“Only between times” at When'],
  ['ramp', '“A sample first” at When'],
  ['input.where', '“Who gets it” at Who'],
  ['input.country', '“Country of numbers without +” at Columns'],
  ['input.sheet', '“Sheet” at Columns'],
  ['input', '“The file of people”'],
  ['destination', '“Phone numbers” at Columns'],
  ['suppress', '“Who gets nothing” at Who'],
];
/** `steps[0].window.to`, or without its step; not the name of a file, such as `window.csv`. */
const KEY =
  /\bsteps\[\d+\]\.(\w[\w.[\]]*)|\b((?:template|window|ramp|input|suppress)\.(?!csv|tsv|txt|xls|nd|js|gz)[\w.[\]]*\w)/g;

/** What the command says to the person who writes job files, and what it means here. */
const SENTENCES: readonly (readonly [said: RegExp, means: string])[] = [
  [/^Shorten template\.text in the job, (or the column that it shows):.*/, 'Shorten the text, $1.'],
  [
    /^(?:Spreadsheets often write|If it is UTF-16, state|Fetch the file again, or state|Remove the encoding|Fix `encoding`) .*/,
    'Save the file as CSV in UTF-8, or as a workbook of Excel, and choose it again.',
  ],
  [/^Name their country with country .* or another/, 'Choose their country at Columns, or another'],
  [/^Finish the run first: the same command that began it/, 'Press “Go on” on the page of the run first'],
  [/^Name the column of the numbers in the job, or/, 'Choose at Columns the column of the numbers, or'],
  [/; (?:under suppress a list|a list under suppress) may .*/, '.'],
  [/\bthe template\b/, 'the message'],
  [/ in the job\b/, ''],
  [/\b(was stopped for now) \(SIG\w+\)/, '$1'],
];

function reword(text: string): string {
  return SENTENCES.reduce((said, [of, means]) => said.replace(of, means), text);
}

/** Says a fault in the words of these pages. Who follows it to its field does not need the name of the field. */
export function sayPlainly(said: string, { key, field }: Partial<Wrong> = {}): string {
  const own = key && said.startsWith(key) ? said.slice(key.length) : undefined;
  const bare = own?.startsWith(': ') ? own.slice(2) : own && field !== undefined ? `It${own}` : said;
  return reword(bare).replace(
    KEY,
    (found, ofStep = found) => FIELDS.find(([key]) => ofStep.startsWith(key))?.[1] ?? found,
  );
}

/** What only a command or the job file can do is said to the person who knows those. */
function sayHint(hint: string): string {
  const plain = reword(hint);
  const isForOthers = /`|\bvolley [a-z]|(?:^|\s)--[a-z]|\w: \{/.test(plain) || plain.search(KEY) !== -1;
  return isForOthers ? `For the person who keeps this console: ${plain}` : sayPlainly(plain);
}

/** The sentences of the command itself, where it printed any. `isOf`: of which of its problems; of all by default. */
export function wrongOf(
  printed: Printed | undefined,
  field?: string,
  isOf?: (problem: PrintedProblem) => boolean,
): Wrong[] {
  const { error = null } = printed ?? {};
  if (error === null) return [];
  const at = field === undefined ? {} : { field };
  if (error.problems.length === 0) return [{ message: error.message, hint: error.hint, ...at }];
  return error.problems.filter(isOf ?? (() => true)).map(({ file, line, key, message, hint }) => {
    const where = file === undefined || key !== null ? '' : `${file}${line ? `, line ${line}` : ''}: `;
    return { message: `${where}${message}`, hint, key, ...at };
  });
}

/** What another person changed since a form was opened, in whose place it would be. */
export function conflictOf(what: string, now: string, field?: string): Wrong {
  const message = `${what} was changed meanwhile. It now ${now}. Yours is below; save it again to put it in its place.`;
  return { message, status: 409, ...(field === undefined ? {} : { field }) };
}

/** Marks a field that a fault at the top of the page names, and whose fault stands beside it. `hint`: the id of what else describes it. */
export function markWrong({ wrong }: View, id: string, hint = ''): Html {
  const isWrong = wrong.some(({ field }) => field === id);
  const described = `${hint} ${isWrong ? `${id}-fault` : ''}`.trim();
  return html`${isWrong && html` aria-invalid="true"`}${described !== '' && html` aria-describedby="${described}"`}`;
}

/** `about`: how a message begins where it stands alone. */
export function renderFault({ wrong }: View, id: string, about = ''): Html {
  const own = wrong.filter(({ field }) => field === id);
  const said = own.map((each) => sayPlainly(each.message, each).replace(about, ''));
  return said.length === 0 ? NOTHING : html`<span class="fault" id="${id}-fault">${said.join(' ')}</span>`;
}
