import { basename, dirname, join, resolve } from 'node:path';
import type { Context } from '../command/context.js';
import { createPlanDeps } from '../command/plan-input.js';
import { type Screen, showCommand, showPath } from '../command/screen.js';
import { UserError } from '../domain/errors.js';
import { describeNumber, guessJob } from '../guess/guess-job.js';
import { guessListCountry } from '../guess/guess-number.js';
import { joinSamples, type SampledRows } from '../guess/sampled-rows.js';
import { writeJob } from '../guess/write-job.js';
import { isOpenMark } from '../input/inputs.js';
import { adviseOnTitle, readHeads } from '../input/read-heads.js';
import type { Job } from '../job/job.js';
import { parseJob } from '../job/load.js';
import { fixDates } from '../job/resolve-job.js';
import { findEncodingName } from '../job/schema/values.js';
import { suggestName } from '../job/schema/written-job.js';
import type { Preview } from '../kinds/step-kind.js';
import { explainMissingColumn, findColumn } from '../normalize/columns.js';
import { normalizeCountry } from '../normalize/country.js';
import { listColumns } from '../normalize/mask.js';
import { previewJob } from '../preview/plan-in-memory.js';
import type { Files } from '../storage/files.js';
import { formatGuess, summarizeGuess } from '../texts/print-guess.js';
import { argument, defineVerb, json, readAs, text } from './verb.js';

/** `volley init FILE…`: writes a job from the first rows of an export. It runs on the sandbox, and no file is overwritten. */
export const init = defineVerb({
  args: {
    file: { ...argument('CSV, NDJSON or .xlsx files, as a tool exported them'), array: true },
  },
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
    const sample = joinSamples(heads.files);
    if (destination !== undefined && findColumn(sample.columns, destination) === undefined) {
      const { message, hint } = explainMissingColumn(destination, sample.columns);
      throw new UserError('bad-flag', `Cannot use --destination: ${message}`, { hint });
    }
    const found = guessJob(sample, { destination, country });
    if (found.kind !== 'found') throw refuseGuess(found, written, sample, screen);
    const { guess } = found;
    const optOuts = heads.optOuts.map((list) => ({
      ...list,
      ...guessListCountry(list.sample, guess.number),
    }));
    const text = writeJob(guess, {
      name: suggestName(basename(path).replace(/\.ya?ml$/i, '')),
      files: heads.files.map((file) => file.name),
      optOuts,
      encoding: heads.encoding,
      isEncodingStated: encoding !== undefined,
      sheet: heads.sheet,
      columns: sample.columns,
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

/** The first message of the job, as planning makes it; undefined where no row of the files gets one. */
async function findExample(job: Job, context: Context): Promise<Preview | undefined> {
  const now = fixDates(job, context.env.clock.now());
  const chosen = { choice: {}, count: 1, only: 'sms' };
  // The job is written: what may be wrong with its files is what `check` and `plan` say.
  const [step] = await previewJob(now, await createPlanDeps(context), chosen).catch(() => []);
  const message = step?.rows.find(({ row }) => row.state === 'planned')?.message;
  return message && { to: String(message.destination), text: String(message.text) };
}
