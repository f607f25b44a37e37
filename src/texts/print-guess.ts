import { escapeText, formatHeadline, paint, type Screen, showCommand, showPath } from '../command/screen.js';
import { countOf } from '../domain/count-of.js';
import { wrapText } from '../domain/text.js';
import { describeConsent, describeCountry, describeFilled, describeNumber, type JobGuess } from '../guess/guess-job.js';
import type { SampledFile } from '../guess/sampled-rows.js';
import { findWhereConsent, type OptOutList } from '../guess/write-job.js';
import type { Preview } from '../kinds/step-kind.js';
import { formatExample } from './plan-text.js';

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
export function summarizeGuess({ path, job, files, optOuts, guess }: WrittenGuess): object {
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
export function formatGuess(
  written: WrittenGuess,
  { example, screen }: { readonly example: Preview | undefined; readonly screen: Screen },
): string {
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
