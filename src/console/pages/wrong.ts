import { type Html, html, NOTHING } from '../../report/page/html.js';
import { NO_VISIT, type Visit } from '../access.js';
import type { Printed, PrintedProblem } from '../commands.js';

/** Who looks at a page, what it is about, and what is wrong on it. */
export interface View extends Visit {
  /** Where its forms lead: `/c/sale`; '' on a page about no campaign. */
  readonly at: string;
  readonly campaign: { readonly name: string; readonly isSandbox: boolean; readonly account: string } | undefined;
  readonly wrong: readonly Wrong[];
}

export const NO_VIEW: View = { ...NO_VISIT, at: '', campaign: undefined, wrong: [] };

/** One thing that is wrong. `field`: the id of what is to be changed on this page. */
export interface Wrong {
  readonly message: string;
  readonly hint?: string | null;
  readonly field?: string;
  /** Of the job file, which these pages do not name. */
  readonly key?: string | null;
  /** That the page is answered with, where it is not 422. */
  readonly status?: number;
}

export function renderWrong(wrong: readonly Wrong[]): Html {
  if (wrong.length === 0) return NOTHING;
  const items = wrong.map((each) => {
    const { hint, field } = each;
    const plain = sayPlainly(each.message, each);
    const said = field === undefined ? plain : html`<a href="#${field}">${plain}</a>`;
    return html`<li>${said}${hint ? html`<br>${sayPlainly(hint)}` : NOTHING}</li>`;
  });
  return html`<div class="wrong" role="alert" aria-labelledby="wrong"><h2 id="wrong">There is a problem</h2><ul>${items}</ul></div>
`;
}

/** In the words of these pages. Who follows a fault to its field does not need the key; the command below the page names its line. */
function sayPlainly(said: string, { key, field }: Partial<Wrong> = {}): string {
  const isKeyFirst = key && said.startsWith(key);
  const bare = isKeyFirst && said[key.length] === ':' ? said.slice(key.length + 2) : said;
  const named = isKeyFirst && bare === said && field !== undefined ? `It${said.slice(key.length)}` : bare;
  return named.replace(/\bthe template\b/, 'the message').replace(/ in the job\b/, '');
}

/** The sentences of the command itself. `isOf`: of which of its problems; of all by default. */
export function wrongOf({ error }: Printed, field?: string, isOf?: (problem: PrintedProblem) => boolean): Wrong[] {
  if (error === null) return [];
  const at = field === undefined ? {} : { field };
  if (error.problems.length === 0) return [{ message: error.message, hint: error.hint, ...at }];
  return error.problems.filter(isOf ?? (() => true)).map(({ file, line, key, message, hint }) => {
    const where = file === undefined || key !== null ? '' : `${file}${line ? `, line ${line}` : ''}: `;
    return { message: `${where}${message}`, hint, key, ...at };
  });
}

/** What another person changed since a form was opened, in whose place it would be. */
export function describeConflict(what: string, now: string): string {
  return `${what} was changed meanwhile. It now ${now}. Yours is below; save it again to put it in its place.`;
}

/** Of what stands for a fault that is named at the top, and has it beside it. `hint`: the id of what else describes it. */
export function markWrong({ wrong }: View, id: string, hint = ''): Html {
  const isWrong = wrong.some(({ field }) => field === id);
  const described = `${hint} ${isWrong ? `${id}-fault` : ''}`.trim();
  return html`${isWrong ? html` aria-invalid="true"` : NOTHING}${described === '' ? NOTHING : html` aria-describedby="${described}"`}`;
}

/** `about`: how a message begins where it stands alone. */
export function renderFault({ wrong }: View, id: string, about = ''): Html {
  const own = wrong.filter(({ field }) => field === id);
  const said = own.map((each) => sayPlainly(each.message, each).replace(about, ''));
  return said.length === 0 ? NOTHING : html`<span class="fault" id="${id}-fault">${said.join(' ')}</span>`;
}
