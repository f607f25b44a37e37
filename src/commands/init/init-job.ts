import { basename, dirname, join, resolve } from 'node:path';
import { envOf, type Host } from '../../command/deps.js';
import { printResult } from '../../command/print.js';
import { type CommandEnd, logCommand, type NameFields } from '../../command/runner.js';
import { screenOf, showCommand, showPath } from '../../command/screen.js';
import { UserError } from '../../domain/errors.js';
import { describeNumber } from '../../guess/describe-guess.js';
import { guessJob, type JobGuess } from '../../guess/guess-job.js';
import { guessListCountry } from '../../guess/guess-number.js';
import { joinSamples } from '../../guess/sampled-rows.js';
import { writeJob } from '../../guess/write-job.js';
import { isOpenMark } from '../../input/inputs.js';
import { findColumn } from '../../input/own-columns.js';
import { findEncodingName } from '../../job/encoding-name.js';
import { parseJob } from '../../job/load.js';
import { suggestName } from '../../job/rules/check-name.js';
import { normalizeCountry } from '../../normalize/country.js';
import { explainMissingColumn } from '../../normalize/explain-missing-column.js';
import { listColumns } from '../../normalize/mask.js';
import { EXIT } from '../../report/exit-code.js';
import type { Files } from '../../storage/files.js';
import { formatGuess, summarizeGuess } from '../../texts/print-guess.js';
import { findExample } from './find-example.js';
import { readHeads } from './read-heads.js';

export interface InitFlags {
  readonly files: readonly string[];
  readonly output: string | undefined;
  readonly destination: string | undefined;
  readonly country: string | undefined;
  readonly encoding: string | undefined;
  readonly sheet: string | undefined;
  readonly json: boolean | undefined;
}

/** `volley init FILE…`: writes a job from the first rows of an export. It runs on the sandbox, and no file is overwritten. */
export function initJob(flags: InitFlags, host: Host): Promise<number> {
  return logCommand(host, { command: 'init', file: flags.files[0] ?? '' }, (name) => initNamed(flags, { host, name }));
}

async function initNamed(flags: InitFlags, { host, name }: { host: Host; name: NameFields }): Promise<CommandEnd> {
  const { files: disk } = envOf(host);
  const from = process.cwd();
  const screen = screenOf(host);
  const country = readCountry(flags.country);
  const path = resolve(from, flags.output ?? nameJob(flags.files.find((file) => !isOpenMark(file)) ?? ''));
  const shown = showPath(screen, path);
  await assertNew(path, shown, disk);
  const stated = { encoding: readEncoding(flags.encoding), sheet: flags.sheet };
  const heads = await readHeads(flags.files, { from, jobDirectory: dirname(path), disk, stated });
  await assertDirectory(path, shown, disk);
  const sample = joinSamples(heads.files, findColumn);
  const { destination } = flags;
  if (destination !== undefined && findColumn(sample.columns, destination) === undefined) {
    const { message, hint } = explainMissingColumn(destination, sample.columns);
    throw new UserError('bad-flag', `Cannot use --destination: ${message}`, hint === undefined ? {} : { hint });
  }
  const found = guessJob(sample, { destination, country }, findColumn);
  if (found.kind !== 'found') throw refuseGuess(found, { flags, sample, screen });
  const { guess } = found;
  const optOuts = heads.optOuts.map(({ name, encoding, sample: list }) => ({
    ...{ name, encoding },
    ...guessListCountry(list, guess.number, findColumn),
  }));
  const text = writeJob(guess, {
    name: suggestName(basename(path).replace(/\.ya?ml$/i, '')),
    files: heads.files.map((file) => file.name),
    optOuts,
    encoding: heads.encoding,
    isEncodingStated: stated.encoding !== undefined,
    sheet: heads.sheet,
    columns: sample.columns,
    findColumn,
  });
  const job = parseJob(text, path);
  name({ job: job.name });
  if (!(await disk.createExclusive(path, text))) throw refuseExisting(shown);
  const { files, marks } = heads;
  const written = { path, job: job.name, files, optOuts, marks, guess };
  const lists = optOuts.map((list, at) => ({ ...list, sample: heads.optOuts[at]?.sample ?? NO_ROWS }));
  const example = findExample(job, heads.files, lists);
  await printResult(host, flags, { json: summarizeGuess(written), text: formatGuess(written, { example, screen }) });
  return { exitCode: EXIT.ok, reason: `wrote ${shown}` };
}

const NO_ROWS = { columns: [], rows: [], notInAll: [] };

/** Beside the file, with its name. */
function nameJob(file: string): string {
  const bare = basename(file).replace(/(?:\.(?:csv|tsv|txt|ndjson|jsonl|xls[xm]))?(?:\.gz)?$/i, '');
  return join(dirname(file), `${bare === '' ? 'job' : bare}.yaml`);
}

function readCountry(written: string | undefined): string | undefined {
  if (written === undefined) return undefined;
  const found = normalizeCountry(written);
  if (found.ok) return found.country;
  throw new UserError('bad-flag', `Cannot use --country: ${found.reason}`);
}

function readEncoding(written: string | undefined): string | undefined {
  if (written === undefined || findEncodingName(written) !== undefined) return written;
  const said = JSON.stringify(written);
  throw new UserError('bad-flag', `Cannot use --encoding: ${said} is not known, expected one such as windows-1252`);
}

type Disk = Pick<Files, 'stat'>;

async function assertNew(path: string, shown: string, disk: Disk): Promise<void> {
  if (!/\.ya?ml$/i.test(path)) {
    throw new UserError('bad-flag', `Cannot write the job ${shown}: expected a name that ends in .yaml`);
  }
  if ((await disk.stat(path)) !== undefined) throw refuseExisting(shown);
}

async function assertDirectory(path: string, shown: string, disk: Disk): Promise<void> {
  if ((await disk.stat(dirname(path)))?.isDirectory !== true) {
    throw new UserError('bad-flag', `Cannot write the job ${shown}: its directory is not there, expected one`, {
      hint: 'Make the directory first.',
    });
  }
}

function refuseExisting(shown: string): UserError {
  return new UserError('bad-flag', `Cannot write the job ${shown}: it exists, expected a new file`, {
    hint: 'Nothing was changed. Name another file with --output.',
  });
}

function refuseGuess(
  found: Exclude<ReturnType<typeof guessJob>, { kind: 'found' }>,
  {
    flags,
    sample,
    screen,
  }: { flags: InitFlags; sample: ReturnType<typeof joinSamples>; screen: ReturnType<typeof screenOf> },
): UserError {
  const of = flags.files.map((file) => showPath(screen, file)).join(', ');
  if (found.kind === 'none') {
    return new UserError(
      'bad-input',
      `Cannot write a job for ${of}: no column holds phone numbers or e-mail addresses; columns: ${listColumns(sample.columns)}`,
      { hint: 'If there is one, name it with --destination; numbers without + need --country, too.' },
    );
  }
  const rows: Pick<JobGuess, 'rows'> = { rows: sample.rows.length };
  const said = found.columns.map((each) => `${JSON.stringify(each.column)} has ${describeNumber(each, rows)}`);
  const [first] = found.columns;
  const command = showCommand(screen, 'init', ...flags.files, '--destination', first?.column ?? '');
  return new UserError('bad-flag', `Cannot choose the column to send to: ${said.join(', ')}`, {
    hint: `Name it with --destination, such as: ${command}`,
  });
}
