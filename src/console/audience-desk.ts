import { basename, isAbsolute, join, resolve } from 'node:path';
import { joinSamples, type SampledRows } from '../guess/sampled-rows.js';
import { findColumn } from '../input/own-columns.js';
import { readHeads } from '../input/read-heads.js';
import { guessEncoding } from '../input/text/guess-encoding.js';
import { DEFAULT_READ_LIMITS } from '../job/schema/written-input.js';
import type { SuppressionInput } from '../plan/format/plan-file.js';
import { describeList, warnOfList } from '../plan/suppress/describe-lists.js';
import type { Files } from '../storage/files.js';
import {
  describeAudience,
  describeWho,
  findMixed,
  listTickable,
  readTicks,
  type Ticked,
  toWrittenWhere,
} from './audience.js';
import { type CampaignFolder, type CampaignJob, listLists, setLists } from './campaign.js';
import type { Printed } from './commands.js';
import { Desk, type PageAnswer, type PageRequest, viewOf } from './desk.js';
import { type WhoShown, whoPage } from './pages/audience-pages.js';
import { type Wrong, wrongOf } from './pages/layout.js';
import { readFileName, takeSlice } from './uploads.js';

/** Who gets a campaign: it writes `where` and `suppress` of the job, and shows what `volley check` says of them. */
export class AudienceDesk extends Desk {
  async showWho(asked: PageRequest, wrong: readonly Wrong[] = [], ticks?: readonly Ticked[]): Promise<PageAnswer> {
    const opened = await this.openForm(asked);
    if ('page' in opened) return opened.page;
    const { campaign, job } = opened;
    const ticked = ticks ?? job.ticked;
    const [sample, printed] = await Promise.all([
      readSample(campaign, job, this.files),
      this.checkJob(asked, campaign),
    ]);
    const columns = listTickable(sample, ticked, job.destination);
    const placed = wrong.map((each) => {
      const at = columns.findIndex(({ column }) => column === each.field);
      return at === -1 ? each : { ...each, field: `column-${at}` };
    });
    const all = [...placed, ...listAudienceFaults(printed)];
    const shown = {
      sha256: job.sha256,
      columns,
      said: describeAudience(sample, ticked),
      optOuts: job.optOuts,
      ...describeLists(campaign.directory, job, printed),
    };
    return { status: all.length > 0 ? 422 : 200, page: whoPage(viewOf(asked, campaign), campaign, shown, all) };
  }

  /** While values are ticked. */
  async count(asked: PageRequest): Promise<PageAnswer> {
    const { job, ...campaign } = await this.find(asked.name);
    const ticked = readTicks(asked.fields);
    const mixed = findMixed(ticked);
    if (job === undefined || mixed !== undefined) return { json: { said: mixed === undefined ? '' : sayMixed(mixed) } };
    return { json: { said: describeAudience(await readSample(campaign, job, this.files), ticked) } };
  }

  /** What is ticked, and the lists: one that was uploaded or lies on this machine comes on, one that is not ticked any more is taken off. */
  async write(asked: PageRequest): Promise<PageAnswer> {
    const opened = await this.openForm(asked);
    if ('page' in opened) return opened.page;
    const { campaign, job } = opened;
    const { fields } = asked;
    const ticked = readTicks(fields);
    const mixed = findMixed(ticked);
    if (mixed !== undefined) return this.showWho(asked, [{ message: sayMixed(mixed), field: mixed.column }], ticked);
    if (fields.sha256 !== job.sha256) {
      const theirs = `The campaign was changed meanwhile. It now goes to: ${describeWho(job)}. What you ticked is below; save it again to put it in its place.`;
      return { ...(await this.showWho(asked, [{ message: theirs }], ticked)), status: 409 };
    }
    const added = await this.#takeList(campaign, asked);
    if (added !== undefined && 'message' in added) return this.showWho(asked, [added], ticked);
    await this.campaigns.edit(campaign, (document) => {
      const where = ['steps', 0, 'input', 'where'];
      if (ticked.length === 0) document.deleteIn(where);
      else document.setIn(where, document.createNode(toWrittenWhere(ticked)));
      const kept = listLists(document).filter((_, index) => fields[`list-${index}`] !== undefined);
      setLists(document, [...kept, ...(added === undefined ? [] : [document.createNode(added)])]);
    });
    const isFaulty = listAudienceFaults(await this.checkJob(asked, campaign)).length > 0;
    return { to: `/c/${asked.name}/${isFaulty || fields.next === undefined ? 'who' : 'when'}` };
  }

  /** As `suppress` names it; undefined where none was given. */
  async #takeList(
    { directory }: CampaignFolder,
    { file, fields }: PageRequest,
  ): Promise<{ files: string; encoding?: string } | Wrong | undefined> {
    const { files } = this;
    const name = readFileName(file?.name);
    const isSent = file !== undefined && file.bytes.length > 0;
    if (isSent && name === undefined)
      return { message: 'Choose a list that is a CSV, Excel or NDJSON file, such as stop.csv', field: 'file' };
    const path = isSent ? join(directory, 'lists', name ?? '') : String(fields.path ?? '').trim();
    if (path === '') return undefined;
    if (isSent) {
      await files.makeDirectory(join(directory, 'lists'));
      const upload = { name: name ?? '', bytes: file.bytes.length };
      await takeSlice(files, join(directory, 'lists'), { upload, offset: 0, slice: file.bytes });
    }
    if (!isAbsolute(path)) return { message: 'Give the whole path of the list, from / on', field: 'path' };
    if ((await files.stat(path))?.isFile !== true) return { message: `There is no file ${path}`, field: 'path' };
    const { maxFileBytes } = DEFAULT_READ_LIMITS;
    const isText = !/\.xls[xm]$/i.test(path);
    const encoding = isText ? await guessEncoding({ path, shown: basename(path), maxFileBytes }) : undefined;
    return { files: isSent ? `lists/${name}` : path, ...(encoding === undefined ? {} : { encoding }) };
  }
}

function sayMixed({ column }: Ticked): string {
  return `In ${column}, tick blank alone, or values alone`;
}

async function readSample(
  { directory }: Pick<CampaignFolder, 'directory'>,
  { files: named }: CampaignJob,
  files: Files,
): Promise<SampledRows> {
  const paths = named.map((path) => resolve(directory, path));
  const stated = { encoding: undefined, sheet: undefined };
  const heads = await readHeads(paths, { jobDirectory: directory, disk: files, stated });
  return joinSamples(heads.files, findColumn);
}

/** What is wrong with files, conditions and lists; of the text its own page says it. */
function listAudienceFaults({ error, ...printed }: Printed): Wrong[] {
  if (error === null) return [];
  const problems = error.problems.filter(
    ({ file, message }) => file?.endsWith('job.yaml') !== true || /^(?:input|suppress|optOuts)\b/.test(message),
  );
  const wrong = problems.length === 0 ? [] : wrongOf({ ...printed, error: { ...error, problems } });
  return wrong.map((each) => ({ ...each, field: each.message.includes('input.') ? 'ticks' : 'lists' }));
}

/** With what each did among the first rows; by their names alone where the job cannot be checked. */
function describeLists(
  directory: string,
  { lists }: CampaignJob,
  { steps = [] }: Printed,
): Pick<WhoShown, 'lists' | 'warnings'> {
  const [{ suppression = [] } = {}] = steps as readonly { readonly suppression?: readonly SuppressionInput[] }[];
  const described = lists.map((list) => {
    const paths = list.split(', ').map((path) => resolve(directory, path));
    const own = suppression.filter(({ file }) => paths.includes(resolve(directory, file)));
    return own.length === 0 ? list : own.map((each) => describeList(each, 'the first recipients')).join('; ');
  });
  return { lists: described, warnings: suppression.map(warnOfList).filter((warning) => warning !== undefined) };
}
