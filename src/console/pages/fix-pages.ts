import { basename } from 'node:path';
import { countOf, format } from '../../domain/count-of.js';
import { explainReason } from '../../report/account.js';
import { type Html, html, NOTHING, renderTable } from '../../report/page/html.js';
import type { RejectedRow } from '../../retry/left-rows.js';
import type { FormFields } from '../desk.js';
import { applyFixes, type CodeCount, countFixed, type Fixes, isFixed, type RejectionList } from '../rejections.js';
import { MULTIPART, renderFileField, renderForm, renderHidden } from './forms.js';
import { type PageAnswer, renderItems, renderPage, renderPages } from './layout.js';
import { markWrong, renderFault, sayPlainly, type View } from './wrong.js';

export const PAGE_ROWS = 50;
/** Above it a spreadsheet is the quicker way, and stands first. */
const MANY_ROWS = 10_000;
const MOST_CELLS = 40;
const MOST_BESIDE = 160;

export interface ShownRejections {
  readonly list: RejectionList;
  readonly fixes: Fixes;
  readonly fixed: number;
  readonly code: string;
  readonly from: number;
  readonly rows: readonly RejectedRow[];
  readonly written: FormFields;
  /** The console may change the job. */
  readonly isOpen: boolean;
}

export function fixPage(view: View, shown: ShownRejections): PageAnswer {
  const { list, fixed, isOpen } = shown;
  const byHand = isOpen
    ? NOTHING
    : html`<p class="note">This job was changed by hand: download the spreadsheet, correct it, and name it in <code>input.files</code> of the job.</p>`;
  const table = html`<h2 id="rows">Row by row</h2>${renderRows(view, shown)}`;
  const sheet = renderSpreadsheet(view, shown);
  return renderPage(view, {
    title: 'Fix',
    body: html`<h1>Fix what could not be used</h1>
<p class="lead" role="status">${list.rows === 0 ? 'Nothing is left to fix.' : `${format(fixed)} fixed, ${format(list.rows - fixed)} left.`}</p>
${byHand}${renderOthers(list)}${list.rows === 0 ? (list.others.length === 0 ? NOTHING : sheet) : html`${renderReasons(view, shown)}${list.rows > MANY_ROWS ? [sheet, table] : [table, sheet]}`}`,
    command: `volley plan job.yaml, with files/fixed-${list.plan}.csv in its input`,
  });
}

/** Where those are that another file of the campaign had. */
function renderOthers({ others }: RejectionList): Html {
  if (others.length === 0) return NOTHING;
  const items = others.map(
    ({ directory, rows }) => html`<a href="run?run=${directory.split('-').at(-1) ?? ''}">${countOf(rows, 'row')}</a>`,
  );
  return html`<p class="note">Runs of other files have rows that could not be used. The page of each has them in rejections.csv: correct it, and upload it here:</p>${renderItems(items)}`;
}

function renderReasons(view: View, shown: ShownRejections): Html {
  const { list, fixes, code, isOpen } = shown;
  const rows = list.codes.map((each) => {
    const { is, fix } = explainReason(each);
    const isShown = each.code === code;
    const link = isShown
      ? html`<b>${is}</b>`
      : html`<a href="?${new URLSearchParams({ code: each.code }).toString()}#rows">${is}</a>`;
    return [
      link,
      each.rows - countFixed(list, fixes, each.code),
      isOpen && each.puts > 0 ? renderPutBack(view, each, shown) : adviseOf(fix, shown),
    ];
  });
  const all = code === '' ? NOTHING : html`<p><a href="?#rows">Show all problems</a></p>`;
  return html`<h2>By problem</h2>${renderTable({ name: 'Rows by problem', columns: ['problem', '#left', 'what to do'] }, rows)}${all}`;
}

function renderPutBack(view: View, { code, puts }: CodeCount, { list, fixes }: ShownRejections): Html {
  const what = code === 'lost-plus' ? '+' : 'the 0';
  const isPut = fixes.put.includes(code);
  const undo = isPut ? renderHidden('undo', 1) : NOTHING;
  const said = isPut ? `Take it out again` : `Put ${what} back in ${format(puts)}`;
  const done = isPut ? `${what} is back in ${format(puts)}. ` : '';
  const show = html`<a href="?${new URLSearchParams({ code }).toString()}#rows">show</a>`;
  return html`${done}${renderForm(view, 'fix/put', html`${renderHidden('plan', list.plan)}${renderHidden('code', code)}${undo}<button class="quiet">${said}</button> (${show})`)}`;
}

function renderRows(view: View, shown: ShownRejections): Html {
  const { list, code, from, rows, fixed, isOpen } = shown;
  const total = code === '' ? list.rows : (list.codes.find((each) => each.code === code)?.rows ?? 0);
  const [file, ...others] = new Set(rows.map(({ place }) => place[1]));
  const isOneFile = others.length === 0;
  const lines = rows.map((row, index) => renderRow(view, row, { ...shown, at: from + index, isOneFile }));
  const pages = renderPages({ from, shown: rows.length, total, most: PAGE_ROWS }, code === '' ? {} : { code }, '#rows');
  const place = html`<p class="dim">Rows ${format(Math.min(from + 1, total))} to ${format(from + rows.length)} of ${format(total)}${file === undefined || !isOneFile ? '' : `, in ${basename(file)}`}.</p>`;
  const hidden = html`${renderHidden('plan', list.plan)}${renderHidden('code', code)}${renderHidden('from', from)}`;
  const table = html`<div class="fix">${renderTable({ name: 'Rows to fix', columns: ['line', 'to correct', 'problem', 'the row'] }, lines)}</div>`;
  const check = html`<button formaction="${view.at}/fix/check">Check the ${format(fixed)}</button>`;
  const keep = html`<p class="keep"><button>Save</button> ${fixed === 0 ? NOTHING : check}</p>`;
  const form = isOpen ? renderForm(view, 'fix', html`${hidden}${table}${keep}`) : table;
  return html`${place}${form}${pages}`;
}

function renderRow(view: View, row: RejectedRow, shown: ShownRejections & { at: number; isOneFile: boolean }) {
  const { list, fixes, written, isOpen, at, isOneFile } = shown;
  const cells = applyFixes(row, list, fixes);
  const editable = editableAt(row, list.columns);
  const [, file, line] = row.place;
  const inputs = editable.map((index) => {
    const field = fieldOf(at, index);
    const column = list.columns[index] ?? '';
    const now = cells[index] ?? '';
    if (!isOpen) return html`<p>${column}: ${now}</p>`;
    const value = written[field] === undefined ? now : textOfForm(written[field]);
    const named = html` id="${field}" name="${field}" aria-label="Line ${line}, ${column}"${markWrong(view, field)}`;
    const input = /[\r\n]/.test(value)
      ? html`<textarea rows="3"${named}>${html`
`}${value}</textarea>`
      : html`<input${named} value="${value}" autocomplete="off">`;
    return html`<span class="hint">${column}</span>${input}${renderHidden(`was-${field}`, now)}`;
  });
  const others = list.columns.flatMap((column, index) => {
    const cell = cells[index] ?? '';
    return editable.includes(index) || cell === '' ? [] : [`${column}: ${cell}`];
  });
  const beside = others.join(' · ');
  const refused = editable
    .map((index) => renderFault(view, fieldOf(at, index), `Line ${line}, ${list.columns[index]}: `))
    .filter((each) => each !== NOTHING);
  return [
    html`${line}${isOneFile ? NOTHING : html`<span class="hint">${basename(file)}</span>`}`,
    html`${inputs}`,
    refused.length > 0
      ? html`${refused}`
      : html`${isFixed(row, fixes) ? html`<b>Fixed</b>, was: ` : NOTHING}${adviseOf(row.standing.reason, shown)}`,
    beside.length > MOST_BESIDE ? `${beside.slice(0, MOST_BESIDE)}…` : beside,
  ];
}

function renderSpreadsheet(view: View, { list, isOpen }: ShownRejections): Html {
  const hint = 'CSV or Excel, with all of its columns: those that begin with _ say which row is which.';
  const up = html`${renderHidden('plan', list.plan)}${renderFileField(view, 'The spreadsheet, corrected', '.csv,.xlsx', hint)}<button>Upload and check it</button>`;
  const many = list.rows > MANY_ROWS ? html`<p>${countOf(list.rows, 'row')}: a spreadsheet is quicker.</p>` : NOTHING;
  return html`<h2>In a spreadsheet</h2>${many}<p><a href="${view.at}/fix.csv" download>Download all that is left to fix</a>, correct it, and upload it again. Format numbers as text.</p>
${isOpen ? renderForm(view, 'fix/upload', up, MULTIPART) : NOTHING}`;
}

/** Who corrects a cell here exports nothing again. */
function adviseOf(advice: string, { isOpen }: ShownRejections): string {
  const parts = sayPlainly(advice)
    .split(/(?<=[;.]) /)
    .filter((part) => !part.includes('export'));
  return isOpen ? parts.join(' ').replace(/;$/, '.') || 'correct it' : advice;
}

/** Indexes of the columns at fault; where the row as a whole is, all. */
export function editableAt({ standing }: RejectedRow, columns: readonly string[]): number[] {
  const { field, reason } = standing;
  const found = columns.flatMap((column, index) =>
    column === field || (column !== '' && reason.includes(`) ${column}: `)) ? [index] : [],
  );
  return found.length > 0 ? found : [...columns.keys()].slice(0, MOST_CELLS);
}

/** The name of a form's field: of a row by its place in the list, and a column. */
export function fieldOf(at: number, column: number): string {
  return `cell-${at}-${column}`;
}

/** As a form sends it: its line ends are CR LF. */
export function textOfForm(text: unknown): string {
  return String(text ?? '').replaceAll(/\r\n?/g, '\n');
}
