import { basename, extname, join } from 'node:path';
import { countOf, format } from '../../domain/count-of.js';
import { guessFileEncoding } from '../../input/read-records.js';
import { createDecoder } from '../../input/text/encoding.js';
import type { Plan } from '../../plan/format/plan-file.js';
import { explainReason } from '../../report/account.js';
import { type Html, html, NOTHING, renderTable } from '../../report/page/html.js';
import type { RejectedRow } from '../../retry/left-rows.js';
import { type CampaignFolder, jobFileOf } from '../campaign.js';
import { findRun } from '../reading.js';
import {
  applyFixes,
  type CodeCount,
  countFixed,
  editableAt,
  fieldOf,
  findFault,
  followRows,
  isFixed,
  isUnchanged,
  keyOfRow,
  type RejectionList,
  Rejections,
  readChanged,
  readSheetHeader,
  refuseCell,
} from '../rejections.js';
import { writePieces } from '../uploads.js';
import { type CampaignRequest, Desk, fieldText, PATIENCE_MS, readFrom, textOfForm, viewOf } from './desk.js';
import {
  MULTIPART,
  type PageAnswer,
  renderFileField,
  renderForm,
  renderHidden,
  renderItems,
  renderPage,
  renderPages,
  waitPage,
} from './layout.js';
import { markWrong, renderFault, sayPlainly, type View, type Wrong } from './wrong.js';

/** What is looked at: the plan that was checked and is not sent yet, or the newest run. */
interface Looked {
  readonly plan: Plan;
  readonly own: Rejections;
  readonly list: RejectionList;
  /** The campaign says something else by now than what was sent: rows may do as they are. */
  readonly isChanged: boolean;
}

/**
 * Rows that could not be used, in a table: what a person changes is kept beside the campaign, and becomes a rejections file, which the program
 * re-imports: each row is sent once, whatever was fixed in it.
 */
export class FixDesk extends Desk {
  /** `act`: on what is left to fix, which is the same that the form is about, where it says which. */
  async #onLeft(asked: CampaignRequest, act: (looked: Looked) => Promise<PageAnswer>, waitMs?: number) {
    const looked = await this.#look(asked.campaign, waitMs);
    if (looked === 'later') return waitPage(viewOf(asked), 'fix', queryOf(readPlace(asked)));
    if (looked === undefined) return { to: `/c/${asked.name}/check` };
    if (asked.fields.plan === undefined || asked.fields.plan === looked.list.plan) return act(looked);
    const message = 'The campaign was checked or sent meanwhile. This is what is left to fix now.';
    const { fields } = followRows(asked.fields, await readShown(asked, looked));
    return this.#show({ ...asked, fields }, looked, [{ message, status: 409 }]);
  }

  /** Finds what is left to fix; undefined where nothing was checked, or a process sends. */
  async #look(campaign: CampaignFolder, waitMs: number | undefined): Promise<Looked | 'later' | undefined> {
    const { checked } = await this.checked(campaign);
    const isDraft = checked?.isBegun === false;
    const of = isDraft ? { ...checked, runner: undefined } : await findRun(campaign, this.context);
    if (of === undefined || of.runner !== undefined || of.plan.steps.length !== 1) return undefined;
    const own = new Rejections(this.files, this.campaigns.stateOf(campaign.name));
    const make = () => own.list(of);
    const list =
      (await own.find(of)) ?? (await this.soon(campaign.name, { key: of.plan.id, waitMs, isKept: false }, make));
    return list === undefined
      ? 'later'
      : { plan: of.plan, own, list, isChanged: 'changed' in of && of.changed.length > 0 };
  }

  show(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onLeft(asked, (looked) => this.#show(asked, looked), PATIENCE_MS);
  }

  async #show(asked: CampaignRequest, looked: Looked, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    return fixPage(viewOf(asked, wrong), await readShown(asked, looked));
  }

  /** Takes the cells that were changed; of two people who change one, the second is shown what the first wrote. */
  save(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onLeft(asked, async (looked) => {
      const { code, from } = readPlace(asked);
      const { fields } = asked;
      if (Object.keys(fields).every((field) => !field.startsWith('cell-') || isUnchanged(fields, field)))
        return this.#show(asked, looked, [{ message: 'Nothing was changed: correct a cell, then save it' }]);
      return (await this.#save(asked, looked)) ?? { to: `/c/${asked.name}/fix${placeOf(code, from)}` };
    });
  }

  async #save(asked: CampaignRequest, looked: Looked): Promise<PageAnswer | undefined> {
    const { fixes, from, ...page } = await readShown(asked, looked);
    const { fields, lost } = followRows(asked.fields, { ...page, from });
    const rows = { ...fixes.rows };
    const wrong = [...lost];
    for (const [at, row] of page.rows.entries()) {
      const changed = readChanged(fields, { row, at: from + at, list: looked.list, fixes });
      const refused = changed.flatMap((each) => refuseCell(each, looked.plan, row));
      wrong.push(...refused);
      const cells = changed.filter(({ field }) => !refused.some((each) => each.field === field));
      if (cells.length === 0) continue;
      const written = Object.fromEntries(cells.map((each) => [each.column, each.text]));
      const all = { ...fixes.rows[row.name]?.cells, ...written };
      rows[row.name] = { code: row.standing.code, hasPut: row.put !== undefined, cells: all };
    }
    await looked.own.writeFixes({ ...fixes, rows });
    return wrong.length === 0 ? undefined : this.#show({ ...asked, fields }, looked, wrong);
  }

  /** Puts back, in all rows of a code, what a spreadsheet took; or not any more. */
  putBack(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onLeft(asked, async ({ own }) => {
      const fixes = await own.readFixes();
      const code = String(asked.fields.code);
      const others = fixes.put.filter((each) => each !== code);
      await own.writeFixes({ ...fixes, put: asked.fields.undo === undefined ? [...others, code] : others });
      return { to: `/c/${asked.name}/fix${placeOf(code, 0)}` };
    });
  }

  /**
   * What the form has, and the rows fixed before, or all that are left, as a file that the job re-imports, and a new plan. The same again makes
   * the same file.
   */
  check(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onLeft(asked, async (looked) => {
      const { list, own } = looked;
      const only = asked.fields.all === undefined ? 'fixed' : 'all';
      const refused = await this.#save(asked, looked);
      if (refused !== undefined) return refused;
      if (only === 'fixed' && countFixed(list, await own.readFixes()) === 0)
        return this.#show(asked, looked, [{ message: 'Nothing is fixed yet: change a cell, and save it' }]);
      const name = `fixed-${list.plan}.csv`;
      await own.writeFile(list, join(asked.campaign.directory, 'files', name), { only });
      return this.#reimport(asked, name);
    });
  }

  async #reimport(asked: CampaignRequest, name: string): Promise<PageAnswer> {
    await this.campaigns.addFile(asked.campaign, `files/${name}`);
    const campaign = await this.campaigns.find(asked.name);
    return this.start({ ...asked, campaign }, 'plan', { args: [jobFileOf(campaign)] });
  }

  /** All rows that are left, with what was fixed, for a spreadsheet: it splits them into cells as it does the campaign's own file. */
  download(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onLeft(asked, async (looked) => {
      const { list, own } = looked;
      const path = join(this.campaigns.stateOf(asked.name), `rejections-${list.plan}.csv`);
      const { delimiter } = (await readSheetHeader(asked.campaign, looked.plan).catch(() => undefined)) ?? {};
      await own.writeFile(list, path, { only: 'all', csv: { delimiter: delimiter === ';' ? ';' : ',', bom: true } });
      return { file: { path, name: `${asked.name}-to-fix.csv` } };
    });
  }

  upload(asked: CampaignRequest): Promise<PageAnswer> {
    return this.#onLeft(asked, async (looked) => {
      const { list } = looked;
      const { campaign, file } = asked;
      if (file?.name === undefined)
        return this.#show(asked, looked, [{ message: 'Choose the spreadsheet that you corrected', field: 'file' }]);
      const name = `corrected-${list.plan}${extname(file.name).toLowerCase()}`;
      const path = join(campaign.directory, 'files', name);
      await writePieces(this.files, path, [file.bytes]);
      const encoding = await guessFileEncoding({ path, shown: file.name });
      const decoder = encoding && (await createDecoder({ name: encoding, markBytes: 0, notice: undefined }));
      const text = decoder?.decode(Buffer.from(file.bytes));
      // As UTF-8 it comes back to a job of whatever encoding.
      if (text !== undefined) await writePieces(this.files, path, [text]);
      const fault = await findFault(campaign, looked.plan, { path, shown: file.name });
      if (fault === undefined) return this.#reimport(asked, name);
      await this.files.remove(path);
      return this.#show(asked, looked, [{ ...fault, field: 'file' }]);
    });
  }
}

function readPlace(asked: CampaignRequest): { code: string; from: number } {
  return { code: fieldText(asked, 'code'), from: readFrom(asked) };
}

function queryOf({ code, from }: { readonly code: string; readonly from: number }): string {
  return `?${new URLSearchParams({ ...(code === '' ? {} : { code }), ...(from === 0 ? {} : { from: String(from) }) })}`;
}

function placeOf(code: string, from: number): string {
  return `${queryOf({ code, from })}#rows`;
}

const PAGE_ROWS = 50;
/** With more rows a spreadsheet is the quicker way, and stands first. */
const MANY_ROWS = 10_000;
const MOST_BESIDE = 160;

type ShownRejections = Awaited<ReturnType<typeof readShown>>;

async function readShown(asked: CampaignRequest, { list, own, isChanged }: Looked) {
  const fixes = await own.readFixes();
  const place = readPlace(asked);
  const rows = await own.readPage(list, { ...place, count: PAGE_ROWS });
  /** Whether the console may change the job. */
  const isOpen = (asked.campaign.job?.unknown.length ?? 1) === 0;
  return { list, fixes, ...place, rows, written: asked.fields, isOpen, isChanged, fixed: countFixed(list, fixes) };
}

function fixPage(view: View, shown: ShownRejections): PageAnswer {
  const { list, fixed, isOpen } = shown;
  const byHand =
    !isOpen &&
    html`<p class="note">This job was changed by hand: download the spreadsheet, correct it, and name it in <code>input.files</code> of the job.</p>`;
  const table = html`<h2 id="rows">Row by row</h2>${renderRows(view, shown)}`;
  const sheet = renderSpreadsheet(view, shown);
  return renderPage(view, {
    title: 'Fix',
    body: html`<h1>Fix what could not be used</h1>
<p class="lead" role="status">${list.rows === 0 ? 'Nothing is left to fix.' : `${format(fixed)} fixed, ${format(list.rows - fixed)} left.`}</p>
${byHand}${renderOthers(list)}${list.rows === 0 ? list.others.length > 0 && sheet : html`${renderReasons(view, shown)}${list.rows > MANY_ROWS ? [sheet, table] : [table, sheet]}`}`,
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
  const { list, fixes, code, isOpen, isChanged } = shown;
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
  const all = code !== '' && html`<p><a href="?#rows">Show all problems</a></p>`;
  const again = html`<p>You changed the campaign since it was sent: these rows may do as they are.</p>${renderForm(view, 'fix/check', html`${renderHidden('plan', list.plan)}${renderHidden('all', 1)}<button class="quiet">Check all ${format(list.rows)} again</button>`)}`;
  return html`<h2>By problem</h2>${renderTable({ name: 'Rows by problem', columns: ['problem', '#left', 'what to do'] }, rows)}${all}${isOpen && isChanged && again}`;
}

function renderPutBack(view: View, { code, puts }: CodeCount, { list, fixes }: ShownRejections): Html {
  const what = code === 'lost-plus' ? '+' : 'the 0';
  const isPut = fixes.put.includes(code);
  const undo = isPut && renderHidden('undo', 1);
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
  const keep = html`<p class="keep"><button>Save</button> ${fixed > 0 && check}</p>`;
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
    html`${line}${!isOneFile && html`<span class="hint">${basename(file)}</span>`}`,
    html`${renderHidden(`row-${at}`, keyOfRow(row, list))}${inputs}`,
    refused.length > 0
      ? html`${refused}`
      : html`${isFixed(row, fixes) && html`<b>Fixed</b>, was: `}${adviseOf(row.standing.reason, shown)}`,
    beside.length > MOST_BESIDE ? `${beside.slice(0, MOST_BESIDE)}…` : beside,
  ];
}

function renderSpreadsheet(view: View, { list, isOpen }: ShownRejections): Html {
  const hint = 'CSV or Excel, with all of its columns: those that begin with _ say which row is which.';
  const up = html`${renderHidden('plan', list.plan)}${renderFileField(view, 'The spreadsheet, corrected', '.csv,.xlsx', hint)}<button>Upload and check it</button>`;
  const many = list.rows > MANY_ROWS && html`<p>${countOf(list.rows, 'row')}: a spreadsheet is quicker.</p>`;
  return html`<h2>In a spreadsheet</h2>${many}<p><a href="${view.at}/fix.csv" download>Download all that is left to fix</a>, correct it, and upload it again. Format numbers as text.</p>
${isOpen && renderForm(view, 'fix/upload', up, MULTIPART)}`;
}

/** Who corrects a cell here exports nothing again. */
function adviseOf(advice: string, { isOpen }: ShownRejections): string {
  const parts = sayPlainly(advice)
    .split(/(?<=[;.]) /)
    .filter((part) => !part.includes('export'));
  return isOpen ? parts.join(' ').replace(/;$/, '.') || 'correct it' : advice;
}
