import { constants } from 'node:fs';
import { cp } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { type Document, isMap, isSeq, parseDocument } from 'yaml';
import { UserError } from '../domain/errors.js';
import { parseJson } from '../domain/is-object.js';
import { EXAMPLE_TEXT } from '../guess/write-job.js';
import { writtenService } from '../job/schema/service.js';
import { suggestName } from '../job/schema/written-job.js';
import { sha256Of } from '../plan/format/sealed-json.js';
import type { Files } from '../storage/files.js';
import { type Audience, toTicks } from './audience.js';
import { toTiming } from './timing.js';
import { findFree } from './uploads.js';

/** A directory below `campaigns/`: its job file, what was uploaded for it, and its runs. */
export interface CampaignFolder {
  readonly name: string;
  readonly directory: string;
  /** What `job.yaml` says; undefined before its columns are known. */
  readonly job: CampaignJob | undefined;
  /** The file that was chosen for it, and the sheet of a workbook, where that was asked. */
  readonly file: string | undefined;
  readonly sheet: string | undefined;
}

/** What a person did to a campaign in the console; `at` in ISO 8601. */
export interface Deed {
  readonly at: string;
  /** Who did it; '' where one person uses the console. */
  readonly by: string;
  readonly did: string;
}

/** What the forms show of a job file. */
export type CampaignJob = ReturnType<typeof readJob>;

const JOB_FILE = 'job.yaml';
const HISTORY_FILE = 'history.ndjson';
const SERVICE_FILE = 'service.yaml';
/** Keys that have maps of which the forms show what they need. */
const WHOLE = new Set([
  ...['service', 'prices', 'testNumbers', 'output.csv', 'steps.suppress', 'steps.input.where'],
  ...['steps.template.scheduled', 'steps.window', 'steps.ramp'],
]);
/** The memory as a job of a campaign names it: it stands beside `campaigns/`. */
const MEMORY = '../../memory';
/** The keys of a step that say where its people are, and how they are read. */
const HOW_READ = [
  ['destination'],
  ...['files', 'country', 'countryColumn', 'encoding', 'sheet'].map((key) => ['input', key]),
];
const KNOWN = new Set([
  ...['name', 'memory', 'sameText', 'steps', 'optOuts', 'output', 'guards', 'guards.requireApproval'],
  ...['steps.kind', 'steps.input', 'steps.template'],
  ...HOW_READ.map((key) => ['steps', ...key].join('.')),
  ...['steps.template.source', 'steps.template.text'],
]);

/** Campaigns of a directory, as files that the commands use as well. */
export class Campaigns {
  readonly directory: string;
  readonly #files: Files;
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(directory: string, files: Files) {
    this.directory = join(directory, 'campaigns');
    this.#files = files;
  }

  async list(): Promise<string[]> {
    const names = (await this.#files.list(this.directory)).filter((name) => name === suggestName(name));
    const looks = await Promise.allSettled(names.map((name) => this.#files.stat(join(this.directory, name))));
    // One that cannot be looked at is listed, with why.
    return names.filter((_, at) => looks[at]?.status !== 'fulfilled' || looks[at].value?.isDirectory === true);
  }

  /** A name that no campaign has yet. */
  async create(written: string): Promise<string> {
    const path = await findFree(this.#files, join(this.directory, suggestName(written.slice(0, 60))));
    await this.#files.makeDirectory(join(path, 'files'));
    return basename(path);
  }

  /** One thing at a time is done to a campaign: each finds what the one before it did. */
  inTurn<T>(name: string, act: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(name) ?? Promise.resolve()).then(act, act);
    this.#turns.set(name, turn);
    return turn;
  }

  async find(name: string): Promise<CampaignFolder> {
    const directory = join(this.directory, name);
    if (name !== suggestName(name) || (await this.#files.stat(directory))?.isDirectory !== true)
      throw new UserError('bad-input', `There is no campaign ${JSON.stringify(name)}`);
    const text = await this.#files.readText(join(directory, JOB_FILE));
    const chosen = await this.#files.readText(join(this.stateOf(name), 'file.json'));
    const { path: file, sheet } = parseJson(chosen) ?? {};
    return { name, directory, job: text === undefined ? undefined : readJob(text), file, sheet };
  }

  /** What the console keeps of a campaign beside its files. */
  stateOf(name: string): string {
    return join(dirname(this.directory), '.console', name);
  }

  async choose(name: string, path: string, sheet?: string): Promise<void> {
    await this.#files.makeDirectory(this.stateOf(name));
    await this.#files.writeWhole(join(this.stateOf(name), 'file.json'), JSON.stringify({ path, sheet }));
  }

  async note(name: string, deed: Deed): Promise<void> {
    await this.#files.makeDirectory(this.stateOf(name));
    const file = await this.#files.openAppend(join(this.stateOf(name), HISTORY_FILE));
    await file.append(Buffer.from(`${JSON.stringify(deed)}\n`)).finally(() => file.close());
  }

  /** The latest first. A line that was cut short is left out. */
  async readHistory(name: string): Promise<Deed[]> {
    const text = (await this.#files.readText(join(this.stateOf(name), HISTORY_FILE))) ?? '';
    const lines = text.split('\n').filter((line) => line.endsWith('}'));
    return lines.map((line) => JSON.parse(line)).reverse();
  }

  /** A job that `volley init` wrote says where the people are, and how they are read. All else of a job that is there stays; lists are added. */
  async takeOver(campaign: CampaignFolder, path: string): Promise<void> {
    const made: Document = parseDocument((await this.#files.readText(path)) ?? '');
    if (campaign.job === undefined) {
      made.set('name', campaign.name);
      const memory = made.createPair('memory', MEMORY);
      memory.key.commentBefore = ' all campaigns remember together whom they wrote to';
      // Without the mark Excel takes outputs for another encoding.
      const output = made.createPair('output', made.get('output') ?? { csv: { bom: true } });
      made.delete('output');
      if (isMap(made.contents)) made.contents.items.splice(1, 0, memory, output);
      await this.#write(campaign, made);
    } else
      await this.#changeNow(campaign.name, (document) => {
        for (const key of HOW_READ) {
          const at = ['steps', 0, ...key];
          const node = made.getIn(at, true);
          if (node === undefined) document.deleteIn(at);
          else document.setIn(at, node);
        }
        const nameOf = (list: unknown) => nameList(isMap(list) ? list.toJSON() : {});
        const known = listLists(document).map(nameOf);
        setLists(document, [
          ...listLists(document),
          ...listLists(made).filter((list) => !known.includes(nameOf(list))),
        ]);
      });
    await this.#files.remove(path);
  }

  /** Comments and all other keys stay. False where the file was changed since the campaign was read: then nothing is. */
  async edit(campaign: CampaignFolder, change: (document: Document) => void): Promise<boolean> {
    const { job } = campaign;
    const isSame = job !== undefined && (await this.#files.readText(jobFileOf(campaign))) === job.text;
    if (isSame) await this.#change(campaign, job.text, change);
    return isSame;
  }

  /** Changes the file as it is now: it may have been saved in an editor meanwhile. Refuses one that is half written. */
  async #changeNow(name: string, change: (document: Document, job: CampaignJob) => void): Promise<void> {
    const campaign = await this.find(name);
    const { job } = campaign;
    if (job === undefined || job.unknown.length > 0)
      throw new UserError('bad-input', 'The job file of the campaign is being changed. Load the page again.');
    await this.#change(campaign, job.text, (document) => change(document, job));
  }

  async #change(campaign: CampaignFolder, text: string, change: (document: Document) => void): Promise<void> {
    const document = parseDocument(text);
    change(document);
    await this.#write(campaign, document);
  }

  async #write(campaign: Pick<CampaignFolder, 'directory'>, document: Document): Promise<void> {
    await this.#files.writeWhole(jobFileOf(campaign), String(document));
  }

  /** What is `written` in service.yaml beside the campaigns: the account that live ones are sent from. `faults`: why none can be. */
  async readAccount() {
    const text = await this.#files.readText(join(dirname(this.directory), SERVICE_FILE));
    if (text === undefined) return { written: {}, service: undefined, faults: ['it is not there'] };
    const written = readValues(parseDocument(text));
    const { data: service, error } = writtenService.safeParse(written);
    const isWhole = !service?.sandbox && service?.account && service.credentials;
    const missing = isWhole ? [] : ['it has no account, or no credentials'];
    const faults = error?.issues.map(({ path, message }) => [...path, message].join(': ')) ?? missing;
    return { written, service, faults };
  }

  /** Another campaign of the same files and the same job, sent from an account. `approvals`: of others, that it needs where it asks for none. */
  async copyLive(from: CampaignFolder, service: unknown, approvals: number): Promise<string> {
    const name = await this.create(`${from.name.slice(0, 55)}-live`);
    const directory = join(this.directory, name);
    for (const part of ['files', 'lists']) {
      const [source, copy] = [from.directory, directory].map((each) => join(each, part)) as [string, string];
      if ((await this.#files.stat(source)) !== undefined)
        await cp(source, copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
    }
    if (from.file !== undefined) {
      const own = relative(from.directory, from.file);
      await this.choose(name, own.startsWith('..') ? from.file : join(directory, own), from.sheet);
    }
    const document = parseDocument(from.job?.text ?? '');
    document.set('name', name);
    document.set('service', document.createNode(service));
    if (approvals > 0 && from.job?.asksApproval !== true) document.setIn(['guards', 'requireApproval'], approvals);
    await this.#write({ directory }, document);
    return name;
  }

  /** One more file of people; nothing changes where the job has it. */
  async addFile({ name }: CampaignFolder, file: string): Promise<void> {
    const { job } = await this.find(name);
    if (job === undefined || job.files.includes(file)) return;
    await this.#changeNow(name, (document, { files }) =>
      document.setIn(['steps', 0, 'input', 'files'], [...files, file]),
    );
  }
}

export function jobFileOf({ directory }: Pick<CampaignFolder, 'directory'>): string {
  return join(directory, JOB_FILE);
}

/** The lists of people who get nothing, as they stand in a job. */
export function listLists(document: Document): readonly unknown[] {
  const node = document.getIn(['steps', 0, 'suppress'], true);
  return isSeq(node) ? node.items : node === undefined ? [] : [node];
}

export function setLists(document: Document, items: readonly unknown[]): void {
  const [at, had] = [['steps', 0, 'suppress'], listLists(document)];
  if (items.length === 0) document.deleteIn(at);
  else if (items.length !== had.length || items.some((item, index) => item !== had[index]))
    document.setIn(at, Object.assign(document.createNode([]), { items: [...items] }));
}

function nameList({ files }: { readonly files?: unknown }): string {
  return [files].flat().join(', ');
}

/** Reads the values of a document; undefined where it names an anchor that it does not have. */
function readValues(document: Document): ReturnType<Document['toJS']> | undefined {
  try {
    return document.toJS();
  } catch {
    return undefined;
  }
}

function readJob(text: string) {
  const document = parseDocument(text);
  const at = (...path: (string | number)[]) => document.getIn(path);
  const values = readValues(document);
  const step = values?.steps?.[0];
  const { input, suppress } = step ?? {};
  const ticked = toTicks(input?.where);
  const { timing, unknown: odd } = toTiming(step);
  const unknown = new Set(ticked === undefined ? ['steps.input.where', ...odd] : odd);
  const visit = (node: unknown, path: string) => {
    if (isSeq(node)) for (const item of node.items) visit(item, path);
    if (!isMap(node)) return;
    for (const { key, value } of node.items) {
      const name = path === '' ? String(key) : `${path}.${key}`;
      if (WHOLE.has(name)) continue;
      if (KNOWN.has(name)) visit(value, name);
      else unknown.add(name);
    }
  };
  visit(document.contents, '');
  const steps = document.get('steps');
  const isReadable = document.errors.length === 0 && values !== undefined;
  if (!isReadable) unknown.add('lines that cannot be read');
  if (!isSeq(steps) || steps.items.length !== 1) unknown.add('several steps');
  if (at('steps', 0, 'kind') !== 'sms') unknown.add('steps without SMS');
  const say = (value: unknown) => (value === undefined || value === null ? '' : String(value));
  const message = say(at('steps', 0, 'template', 'text'));
  // What volley init wrote stands there until a person has written both.
  const isExample = message.endsWith(EXAMPLE_TEXT);
  const audience: Audience = {
    ticked: ticked ?? [],
    lists: [suppress ?? []].flat().map(nameList),
    sharesMemory: at('memory') === MEMORY,
    optOuts: say(document.get('optOuts')),
  };
  return {
    ...audience,
    /** The digest of the file: a form carries it, so that two people who edit are noticed. */
    sha256: sha256Of(text),
    text,
    isSandbox: at('service', 'sandbox') === true,
    account: [at('service', 'account'), at('service', 'region')].filter((each) => each !== undefined).join(', '),
    testNumbers: [values?.testNumbers ?? []].flat().join(', '),
    asksApproval: Number(at('guards', 'requireApproval') ?? 0) > 0,
    files: [input?.files ?? []].flat().map(String),
    sheet: input?.sheet as string | undefined,
    destination: say(at('steps', 0, 'destination')),
    country: say(at('steps', 0, 'input', 'country')),
    sender: isExample ? '' : say(at('steps', 0, 'template', 'source')),
    message: isExample ? '' : message,
    timing,
    /** Keys that the forms do not know: then they show the job, and change nothing of it. */
    unknown: [...unknown],
    /** As YAML. */
    isReadable,
  };
}
