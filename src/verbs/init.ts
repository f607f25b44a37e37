import { basename, dirname, join, resolve } from 'node:path';
import type { Context } from '../command/context.js';
import { createPlanDeps } from '../command/plan-input.js';
import { escapeText, formatHeadline, paint, type Screen, showCommand, showPath } from '../command/screen.js';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { wrapText } from '../domain/text.js';
import {
  describeConsent,
  describeCountry,
  describeFilled,
  describeNumber,
  guessJob,
  type JobGuess,
} from '../guess/guess-job.js';
import { guessListCountry } from '../guess/guess-number.js';
import { joinSamples, type SampledFile, type SampledRows } from '../guess/sampled-columns.js';
import { findWhereConsent, type OptOutList, writeJob } from '../guess/write-job.js';
import { isOpenMark } from '../input/inputs.js';
import { adviseOnTitle, readHeads } from '../input/read-records.js';
import type { Job } from '../job/job.js';
import { parseJob } from '../job/load.js';
import { fixDates } from '../job/planned-job.js';
import { findEncodingName } from '../job/schema/values.js';
import { suggestName } from '../job/schema/written-job.js';
import type { Preview } from '../kinds/step-kind.js';
import { explainMissingColumn, findColumn } from '../normalize/columns.js';
import { normalizeCountry } from '../normalize/country.js';
import { listColumns } from '../normalize/mask.js';
import { previewJob } from '../preview/previewed-plan.js';
import type { Files } from '../storage/files.js';
import { formatExample } from '../texts/plan-text.js';
import { argument, defineVerb, json, readAs, text } from './verb.js';

/** `volley init FILE…`: writes a job from the first rows of an export. It runs on the sandbox, and no file is overwritten. */
export const init = defineVerb({
  args: { file: { ...argument('CSV, NDJSON or .xlsx files, as a tool exported them'), array: true } },
  flags: {
    output: text('The job file to write; default: beside the first file, with its name'),
    destination: text('Column of the numbers, where several could be it'),
    country: readAs('Two letters: the country of numbers without +', 'one such as SG', readCountry),
    encoding: readAs(
      'Encoding of the files, where it is not found, such as windows-1252',
      'one such as windows-1252',
      (given) => (findEncodingName(given) === undefined ? undefined : given),
    ),
    sheet: text('Name of the sheet, where a workbook has several with rows'),
    json,
  },
  examples: [['people.csv', 'writes people.yaml']],
  run: async ({ file: written, output, destination, country, encoding, sheet }, context) => {
    const { env, screen, name } = context;
    const { files: disk } = env;
    name({ file: written[0] });
    const path = resolve(output ?? nameJob(written.find((file) => !isOpenMark(file)) ?? ''));
    const shown = showPath(screen, path);
    await assertNew(path, shown, disk);
    const heads = await readHeads(written, { jobDirectory: dirname(path), disk, stated: { encoding, sheet } });
    const named = [...heads.files, ...heads.optOuts].find((file) => /\p{Cc}/u.test(file.name));
    if (named !== undefined) {
      const what = `Cannot write a job for ${JSON.stringify(named.name)}: its name has a control character`;
      throw new UserError('bad-flag', what, { hint: 'Nothing was written. Rename the file.' });
    }
    const sample = joinSamples(heads.files);
    if (destination !== undefined && findColumn(sample.columns, destination) === undefined) {
      const { message, hint } = explainMissingColumn(destination, sample.columns);
      throw new UserError('bad-flag', `Cannot use --destination: ${message}`, { hint });
    }
    const found = guessJob(sample, { destination, country });
    if (found.kind !== 'found') throw refuseGuess(found, written, sample, screen);
    const { guess } = found;
    const optOuts = heads.optOuts.map((list) => ({ ...list, ...guessListCountry(list.sample, guess.number) }));
    const text = writeJob(guess, {
      name: suggestName(basename(path).replace(/\.ya?ml$/i, '')),
      files: heads.files.map((file) => file.name),
      optOuts,
      encoding: heads.encoding,
      isEncodingStated: encoding !== undefined,
      sheet: heads.sheet,
      columns: sample.columns,
      hasSemicolons: heads.files.every(({ delimiter }) => delimiter === ';'),
    });
    const job = parseJob(text, path);
    name({ job: job.name });
    if (!(await disk.createExclusive(path, text))) throw refuseExisting(shown);
    const made = { path, job: job.name, files: heads.files, optOuts, marks: heads.marks, guess };
    return {
      json: summarizeGuess(made),
      text: formatGuess(made, { example: await findExample(job, context), screen }),
      reason: `wrote ${shown}`,
    };
  },
});

function nameJob(file: string): string {
  const bare = basename(file).replace(/(?:\.(?:csv|tsv|txt|ndjson|jsonl?|xls[xm]))?(?:\.gz)?$/i, '');
  return join(dirname(file), `${bare === '' ? 'job' : bare}.yaml`);
}

function readCountry(given: string): string {
  const found = normalizeCountry(given);
  if (found.ok) return found.country;
  throw new Error(`Cannot use --country: ${found.reason}`);
}

async function assertNew(path: string, shown: string, disk: Pick<Files, 'stat'>): Promise<void> {
  if (!/\.ya?ml$/i.test(path)) {
    throw new UserError('bad-flag', `Cannot write the job ${shown}: expected a name that ends in .yaml`);
  }
  if ((await disk.stat(path)) !== undefined) throw refuseExisting(shown);
}

function refuseExisting(shown: string): UserError {
  return new UserError('bad-flag', `Cannot write the job ${shown}: it exists, expected a new file`, {
    hint: 'Nothing was changed. Name another file with --output.',
  });
}

function refuseGuess(
  found: Exclude<ReturnType<typeof guessJob>, { kind: 'found' }>,
  files: readonly string[],
  { columns, rows }: SampledRows,
  screen: Screen,
): UserError {
  if (found.kind === 'none') {
    const of = files.map((file) => showPath(screen, file)).join(', ');
    const so = `no column holds phone numbers or e-mail addresses; columns: ${listColumns(columns)}`;
    const named = 'If there is one, name it with --destination; numbers without + need --country, too.';
    // A title is in one cell, whatever separates the cells below it.
    const hint = columns.length === 1 ? `${named} ${adviseOnTitle(columns)}` : named;
    return new UserError('which-column', `Cannot write a job for ${of}: ${so}`, { hint });
  }
  const said = found.columns.map(
    (each) => `${JSON.stringify(each.column)} has ${describeNumber(each, { rows: rows.length })}`,
  );
  const [first] = found.columns;
  const command = showCommand(screen, 'init', ...files, '--destination', first?.column ?? '');
  return new UserError('which-column', `Cannot choose the column to send to: ${said.join(', ')}`, {
    hint: `Name it with --destination, such as: ${command}`,
  });
}

/** Rows among which a message is sought that is shown: of a large file few may be fit to be sent. */
const EXAMPLE_WITHIN = 50_000;

/** The first message of the job, as planning makes it; undefined where no row of the files gets one. */
async function findExample(job: Job, context: Context): Promise<Preview | undefined> {
  const now = fixDates(job, context.env.clock.now());
  const chosen = { choice: {}, count: 1, only: 'sms' };
  const deps = await createPlanDeps(context);
  const most = new AbortController();
  const signal = AbortSignal.any([deps.signal, most.signal]);
  const onProgress = ({ rows }: { rows: number }) => rows >= EXAMPLE_WITHIN && most.abort();
  // The job is written: what may be wrong with its files is what `check` and `plan` say.
  const [step] = await previewJob(now, { ...deps, signal, onProgress }, chosen).catch(() => []);
  const message = step?.rows.find(({ row }) => row.state === 'planned')?.message;
  return message && { to: String(message.destination), text: String(message.text) };
}

/** A job that was written from an export. */
interface WrittenGuess {
  /** Absolute path of the job file. */
  readonly path: string;
  readonly job: string;
  readonly files: readonly SampledFile[];
  readonly optOuts: readonly OptOutList[];
  readonly marks: readonly string[];
  readonly guess: JobGuess;
}

/** What `volley init` prints for machines: no cell of the files; what else was found stands in the job. */
function summarizeGuess({ path, job, files, optOuts, guess }: WrittenGuess): object {
  const { number, rows } = guess;
  return {
    job,
    path,
    kind: number === undefined ? 'contacts' : 'sms',
    files: files.map(({ name }) => name),
    suppress: optOuts.map(({ name }) => name),
    rows,
    destination: number?.column ?? null,
    validNumbers: number?.valid ?? null,
    country: number?.country ?? null,
    state: 'written',
  };
}

/** What is said of numbers without + that a person must do something about, and what; undefined where there are none. */
function findTodo({ number }: JobGuess): { readonly says: string; readonly first: string } | undefined {
  if (number?.tried === undefined || number.country !== undefined) return undefined;
  if (number.tried.lostPlus.length === 0)
    return { says: 'unclear, fill it in', first: 'fill in the country, and your text' };
  return { says: 'lost with the +', first: 'put the + back in the file, and your text into the job' };
}

/** What was found, the first message, and what to do now: for a person. */
function formatGuess(written: WrittenGuess, { example, screen }: { example: Preview | undefined; screen: Screen }) {
  const { path, files, guess } = written;
  const job = showPath(screen, path);
  const from = files.length === 1 ? (files[0]?.name ?? '') : countOf(files.length, 'file');
  const head = `The job ${job} is written, from the first ${countOf(guess.rows, 'row')} of ${from}. Nothing was sent.`;
  const facts = listFacts(written).map(([name, text]) =>
    wrapText(escapeText(`  ${name.padEnd(WIDEST)} ${text}`), screen.columns, ' '.repeat(WIDEST + 3)).join('\n'),
  );
  const message = example === undefined ? '' : `\n${formatExample(example, screen)}`;
  const commands = ['check', 'plan', 'run'].map(
    (verb) => `  ${paint(screen, 'bold', escapeText(showCommand(screen, verb, job)))}`,
  );
  const first = findTodo(guess)?.first ?? 'put your text into it';
  const next = `Next: ${first}. Then check it, see what it would send, and run it on the sandbox:`;
  return `${formatHeadline(head, 'bold', screen)}\n\n${facts.join('\n')}\n${message}\n${wrapText(next, screen.columns).join('\n')}\n${commands.join('\n')}\n`;
}

const WIDEST = 'greeting'.length;

function listFacts({ guess, optOuts, marks }: WrittenGuess): (readonly [name: string, text: string])[] {
  const { number, greeting, consent, notInAll } = guess;
  const country = number && describeCountry(number);
  const ofWhere = findWhereConsent(consent);
  const says = findTodo(guess)?.says ?? number?.country ?? number?.countryColumn;
  const facts: (readonly [string, string | undefined])[] = [
    ['contacts', number ? undefined : 'no column holds numbers, so the job makes contacts and sends no SMS'],
    ['number', number && `${number.column}: ${describeNumber(number, guess)}`],
    ['country', country && `${says}: ${country}`],
    ['greeting', greeting && `${greeting.column}: ${describeFilled(greeting, guess)}`],
    ...consent.map((each) => ['consent', `${each.column}: ${describeConsent(each, guess)}`] as const),
    ['', ofWhere && `a where for ${ofWhere.column} stands in the job as a comment`],
    ...optOuts.map((list) => ['opt-outs', `nothing is sent to the numbers in ${describeList(list)}`] as const),
    ...marks.map((mark) => ['not used', `${mark}: open in Excel; close it before you send`] as const),
    ['not used', notInAll.length > 0 ? `not in all files: ${notInAll.join(', ')}` : undefined],
  ];
  return facts.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
}

function describeList({ name, encoding, country }: OptOutList): string {
  const read = [encoding, country].filter((each) => each !== undefined).join(', ');
  return read === '' ? name : `${name} (read as ${read})`;
}
