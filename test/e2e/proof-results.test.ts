import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { ALL } from '../one-in.js';
import { aJob, numberOf } from './a-job.js';
import { prove, verifyProof } from './a-proof.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';

const CSV = '1-sms.results.csv';
const NAMES = ['Zoë', '"Ann,\nthe ""first"""', '=1+1', '{brace', ...Array.from({ length: 8 }, (_, at) => `P${at}`)];

/** A run of twelve rows, its proof, and what verify.mjs says of results in the place of its own. */
async function aProvenRun(output: object) {
  const workspace = await aWorkspace();
  const rows = NAMES.map((name, at) => `${name},${numberOf(at + 1)}\n`);
  workspace.write('people.csv', `name,mobile\n${rows.join('')}Bad,n/a\n`);
  workspace.writeJob(aJob(workspace, { output: { directory: 'out', ...output } }));
  const { summary } = await workspace.run();
  const { directory } = await prove(workspace, summary.directory);
  const verify = (...args: string[]) => verifyProof(directory, 'proof.json', ...args);
  let forgeries = 0;
  const verifyResults = (content: string) => {
    forgeries += 1;
    const name = `forged-${forgeries}`;
    writeFileSync(join(directory, name), content);
    return verify('--salt', 'proof.salt', name);
  };
  return { directory, verify, verifyResults, read: (name: string) => readFileSync(join(directory, name), 'utf8') };
}

let run: Awaited<ReturnType<typeof aProvenRun>>;
let genuine: string;

beforeAll(async () => {
  run = await aProvenRun({ csv: { delimiter: ';', bom: true } });
  genuine = run.read(CSV);
}, 120_000);

describe.concurrent('verify.mjs', () => {
  test('refuses to check less than it was asked to, and says what to give', async () => {
    const asked: [string[], string][] = [
      [['nowhere.csv'], 'expected --salt proof.salt as well'],
      [['--number', numberOf(1)], 'expected --salt proof.salt as well'],
      [['--salt', 'proof.salt', '--number', numberOf(1).slice(3)], 'expected one such as +6591234567'],

      [['--salt', 'proof.salt', 'nowhere.csv'], 'no such file'],
      [['--salt', 'proof.salt', CSV, CSV], 'one file too many'],

      [['--slat', 'proof.salt', CSV], "'--slat'"],
    ];
    for (const [args, said] of asked) {
      const { code, stdout, stderr } = await run.verify(...args);
      expect([args, code, stdout, stderr]).toEqual([args, 2, '', expect.stringMatching(/^Cannot check: /)]);
      expect(stderr).toContain(said);
    }
  });

  test('holds results to the byte, with cells of several lines, and NDJSON as well; of a workbook it says that it cannot', async () => {
    const so = `${CSV}: its 12 rows are those that were accepted in step 1, to the byte`;
    const held = await run.verify('--salt', 'proof.salt', CSV, '--number', '+65 (9100) 00-02');
    expect([held.code, held.stderr, held.stdout]).toEqual([0, '', expect.stringContaining(so)]);
    expect(held.stdout).toContain('+65 (9100) 00-02: accepted (entry');

    const { read, verify, verifyResults } = await aProvenRun({ format: 'ndjson' });
    expect((await verify('--salt', 'proof.salt', '1-sms.results.ndjson')).code).toBe(0);
    const [first = '', ...others] = read('1-sms.results.ndjson').split('\n');
    const changed = await verifyResults([first.replace('Zoë', 'Zoe'), ...others].join('\n'));
    expect([changed.code, changed.stderr]).toEqual([1, expect.stringContaining('row 1 of it')]);
    const another = await verifyResults(genuine);
    expect([another.code, another.stderr]).toEqual([1, expect.stringContaining('row 1 of it')]);

    const { verifyResults: verifyBeside } = await aProvenRun({ format: 'xlsx' });
    expect((await verifyBeside(genuine)).stderr).toContain('the run wrote workbooks');
  });

  test('refuses results with any cell changed, any row dropped, added or moved, and any byte flipped', async () => {
    const [header = '', ...records] = splitRecords(genuine);
    const row = fc.nat(records.length - 1);
    const columns = header.trimEnd().split(';').length;
    const change = fc.oneof(
      fc.tuple(fc.constant('drop'), row, row),
      fc.tuple(fc.constant('twice'), row, row),
      fc.tuple(fc.constant('move'), row, row),
      fc.tuple(fc.constant('cell'), row, fc.nat(columns - 1)),
      fc.tuple(fc.constant('byte'), fc.nat(genuine.length - 1), fc.integer({ min: 1, max: 127 })),
    );
    await fc.assert(
      fc.asyncProperty(change, async ([what, at, other]) => {
        const [record = ''] = records.slice(at % records.length);
        const rows = records.toSpliced(at, 1);
        const forge: Record<string, () => string> = {
          drop: () => header + rows.join(''),
          twice: () => header + records.toSpliced(other, 0, record).join(''),
          move: () => header + rows.toSpliced(other, 0, record).join(''),
          cell: () => header + records.with(at, changeCell(record, other)).join(''),
          byte: () =>
            genuine.slice(0, at) + String.fromCharCode(genuine.charCodeAt(at) ^ other) + genuine.slice(at + 1),
        };
        const content = forge[what]?.() ?? '';
        fc.pre(content !== genuine);
        const { code, stderr } = await run.verifyResults(content);
        expect([code, stderr]).toEqual([1, expect.stringMatching(/does not hold: \S/)]);
      }),
      { numRuns: ALL ? 200 : 8 },
    );
  }, 120_000);
});

/** With their line ends. One row of the run has a cell of two lines. */
function splitRecords(content: string): string[] {
  return content.match(/(?:"(?:[^"]|"")*"|[^"\n])*\n/g) ?? [];
}

function changeCell(record: string, at: number): string {
  const cells = record.trimEnd().split(';');
  return `${cells.with(at, `${cells[at] ?? ''}0`).join(';')}\n`;
}
