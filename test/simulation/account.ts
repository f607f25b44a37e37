import { parse } from 'csv-parse/sync';
import type { CrashDisk } from './crash-disk.js';
import { findRunDirectory, hasRows } from './planned-rows.js';
import { type Row, type Scenario, sessionOf } from './scenario.js';
import type { Ledger } from './sim-ledger.js';
import { Violation } from './watch.js';

const OUTPUTS = ['results', 'rejections', 'skipped', 'in-doubt', 'unprocessed'] as const;
type Output = (typeof OUTPUTS)[number];
type Cells = Readonly<Record<string, string>>;

/** Compares the outputs of a finished job, row by row, with what the service's ledger says. */
export function checkAccount(disk: CrashDisk, scenario: Scenario, ledger: Ledger): void {
  checkOnce(ledger.sent, 'messages');
  checkOnce(ledger.conversations, 'conversations');
  checkOnce(ledger.codes, 'codes');
  checkOnce(ledger.checks, 'checks');
  if (ledger.campaignStatus !== 3) throw new Violation('the job is finished, and its dialer is still paused');
  checkOnce(new Map([['the chat', ledger.posts.filter((text) => text === 'finished').length]]), 'words of the end');
  const directory = runDirectoryOf(disk);
  const accounted = new Set<string>();
  for (const [index, { kind }] of scenario.job.steps.entries()) {
    if (!hasRows(kind)) continue;
    const rows = new Map<string, Output>();
    for (const { output, cells } of readOutputs(disk, `${directory}/${index + 1}-${kind}`)) {
      const { _row: row = '', _clientMessageId: id = '' } = cells;
      if (rows.has(row)) throw new Violation(`step ${index + 1}: row ${row} is in ${rows.get(row)} and in ${output}`);
      rows.set(row, output);
      checkRow({ kind, output, cells, ledger, fate: scenario.rows[Number(row) - 1]?.fate });
      if (output === 'results' || output === 'in-doubt') accounted.add(id);
    }
    if (rows.size === scenario.rows.length) continue;
    throw new Violation(`step ${index + 1}: ${rows.size} of ${scenario.rows.length} rows are accounted for`);
  }
  const lost = [...ledger.messages.keys()].find((id) => !accounted.has(id));
  if (lost !== undefined) throw new Violation(`${lost} was accepted, and is neither in the results nor in doubt`);
}

/** All rows of the outputs of a step; `step` is how the paths of its files begin. */
export function* readOutputs(disk: CrashDisk, step: string): Generator<{ output: Output; cells: Cells }> {
  for (const output of OUTPUTS) {
    for (const cells of readOutput(disk, `${step}.${output}.csv`)) yield { output, cells };
  }
}

function checkOnce(times: ReadonlyMap<string, number>, what: string): void {
  for (const [who, count] of times) if (count > 1) throw new Violation(`${who} got ${count} ${what}`);
}

/** Rows of each step that are in doubt, as `<kind> <name>`. */
export function listInDoubt(disk: CrashDisk, { job }: Scenario): string[] {
  const directory = runDirectoryOf(disk);
  return job.steps.flatMap(({ kind }, index) => {
    if (!hasRows(kind)) return [];
    const rows = readOutput(disk, `${directory}/${index + 1}-${kind}.in-doubt.csv`);
    return rows.map(({ name }) => `${kind} ${name}`);
  });
}

/** A row in one of the outputs, with all that there is to compare it with. */
interface Accounted {
  readonly kind: string;
  readonly output: Output;
  readonly cells: Cells;
  readonly fate: Row['fate'] | undefined;
  readonly ledger: Ledger;
}

function checkRow(row: Accounted): void {
  if (row.output === 'unprocessed') throw new Violation(`row ${row.cells._row} is unprocessed in a finished run`);
  if (row.kind === 'sms') checkMessage(row);
  if (row.kind === 'contacts' && row.output === 'results') checkContact(row);
  if (row.kind === 'conversations') checkConversation(row);
  if (row.kind === 'verification.start') checkStart(row);
  if (row.kind === 'verification.check') checkCheck(row);
}

const OUTPUT_OF_FATE = { planned: undefined, invalid: 'rejections', duplicate: 'skipped' } as const;

function checkMessage({ output, cells, fate = 'planned', ledger: { messages } }: Accounted): void {
  const { _row: row, _clientMessageId: id = '', _stage: stage } = cells;
  const expected = OUTPUT_OF_FATE[fate];
  if (expected !== undefined && output !== expected) throw new Violation(`row ${row} is ${fate}, and in ${output}`);
  if (output === 'rejections' && stage === 'send') {
    for (const { destination } of messages.values()) {
      if (destination === cells.mobile) throw new Violation(`row ${row} is rejected, and got its message`);
    }
  }
  if (output !== 'results') return;
  const message = messages.get(id);
  if (message === undefined) throw new Violation(`row ${row} is accepted, and the service never took ${id}`);
  const isOwn = message.destination === cells.mobile && message.text === `Hi ${cells.name}`;
  if (!isOwn || message.umid !== cells._umid) throw new Violation(`row ${row} has the message of another`);
}

function checkContact({ cells, ledger: { contacts } }: Accounted): void {
  const { _row: row, _contactId: id, mobile = '' } = cells;
  if (String(contacts.get(mobile)) !== id) throw new Violation(`row ${row} has contact ${id}, which is another's`);
}

function checkConversation({ output, cells, ledger: { conversations } }: Accounted): void {
  const { _row: row, name = '' } = cells;
  const isThere = conversations.has(name);
  if (output === 'results' && (!isThere || cells._conversationId !== `c-${name}`)) {
    throw new Violation(`row ${row} is handed over as ${cells._conversationId}, which is not so`);
  }
  if (output === 'rejections' && isThere) throw new Violation(`row ${row} is rejected, and was handed over`);
}

function checkStart({ output, cells, ledger: { codes } }: Accounted): void {
  const { _row: row, _stage: stage, mobile = '' } = cells;
  const isSent = codes.has(mobile);
  if (output === 'results' && (!isSent || cells._sessionId !== `v-${mobile.slice(1)}`)) {
    throw new Violation(`row ${row} was sent a code in session ${cells._sessionId}, which is not so`);
  }
  if (output === 'rejections' && stage === 'send' && isSent)
    throw new Violation(`row ${row} is rejected, and got a code`);
}

function checkCheck({ output, cells, ledger: { checks, verified } }: Accounted): void {
  const { _row: row, _stage: stage, _code: code, name = '' } = cells;
  const session = sessionOf(name);
  if (output === 'results' && !verified.has(session)) throw new Violation(`row ${row} is verified, which is not so`);
  if (output !== 'rejections' || stage !== 'send') return;
  // Its session could not be read, or waited for no code: none was given.
  if (code === 'not-checked' && checks.has(session)) throw new Violation(`row ${row} gave a code, and is not-checked`);
  const isWrong = checks.has(session) && !verified.has(session);
  if (code !== 'not-checked' && !isWrong) throw new Violation(`row ${row} gave the right code, or none`);
}

function readOutput(disk: CrashDisk, path: string): Cells[] {
  const text = String(disk.volume.readFileSync(path, 'utf8'));
  // The header alone, as most are.
  if (text.indexOf('\n') === text.length - 1) return [];
  const records = parse(text, { columns: true, bom: true, relax_column_count: false }) as Cells[];
  // A cell that a spreadsheet would run has an apostrophe in front.
  return records.map((record) =>
    Object.fromEntries(Object.entries(record).map(([name, cell]) => [name, cell.replace(/^'(?=[=+\-@])/, '')])),
  );
}

function runDirectoryOf(disk: CrashDisk): string {
  const directory = findRunDirectory(disk);
  if (directory === undefined) throw new Violation('the job is finished, and has no run');
  return directory;
}
