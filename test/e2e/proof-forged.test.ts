import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { ALL, oneIn } from '../one-in.js';
import { numberOf, people } from './a-job.js';
import { type Checked, chainOf, type Entry, prove, readEntries, verifyProof } from './a-proof.js';
import { aJobFor } from './a-workspace.js';

let directory: string;
let genuine: Buffer;
let entries: Entry[];
let forgeries = 0;

beforeAll(async () => {
  const workspace = await aJobFor(`${people(25)}Zoë,n/a\nAgain,${numberOf(1)}\n`, {}, { kind: 'reset-after', nth: 2 });
  const { summary } = await workspace.run();
  const proven = await prove(workspace, summary.directory);
  directory = proven.directory;
  genuine = readFileSync(proven.printed.proof);
  entries = readEntries(`${genuine}`);
}, 120_000);

/** Checks these bytes in place of the proof. */
async function verifyForged(bytes: string | Buffer, ...args: string[]): Promise<Checked> {
  forgeries += 1;
  const name = `forged-${forgeries}.json`;
  writeFileSync(join(directory, name), bytes);
  return verifyProof(directory, name, ...args);
}

const listLines = () => `${genuine}`.trimEnd().split('\n');
/** Those of its entries. */
const listInner = () => listLines().slice(1, -1);
/** The proof with these lines, their commas as they belong. */
const withInner = (lines: readonly string[]) => {
  const inner = lines.map((line, at) => `${at === 0 ? '' : ','}${line.replace(/^,/, '')}\n`).join('');
  return `${listLines()[0]}\n${inner}${listLines().at(-1)}\n`;
};

/** One chain, whose last entry is this text. */
function withLastEntry(lines: readonly string[], json: string): string {
  const [before = '', last = ''] = lines.slice(-3);
  const head = createHash('sha256')
    .update(`${/"sha256":"(\w+)"\}$/.exec(before)?.[1]}${json}`)
    .digest('hex');
  const changed = last.replace(/\{"entry":.*/, () => `{"entry":${json},"sha256":"${head}"}`);
  return [...lines.slice(0, -2), changed, `],"head":"${head}"}`, ''].join('\n');
}

describe.concurrent('a proof that was changed', () => {
  test('is refused with any one byte changed, wherever it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(genuine.length - 1), fc.integer({ min: 1, max: 255 }), async (at, bits) => {
        const changed = Buffer.from(genuine);
        changed[at] = (changed[at] ?? 0) ^ bits;
        const { code, stderr } = await verifyForged(changed);
        expect([code, stderr]).toEqual([1, expect.stringMatching(/does not hold: \S/)]);
      }),
      { numRuns: ALL ? 40 : 3 },
    );
  });

  test('is refused with any entry taken out, doubled or moved, or its end cut: it names where', async () => {
    const index = fc.nat(listInner().length - 1);
    await fc.assert(
      fc.asyncProperty(index, index, fc.constantFrom('out', 'twice', 'moved', 'cut'), async (one, other, what) => {
        const lines = listInner();
        const [line = ''] = lines.slice(one);
        const isLast = one === lines.length - 1;
        fc.pre(what !== 'moved' || one !== other);
        const without = lines.toSpliced(one, 1);
        const forged = {
          out: withInner(without),
          twice: withInner(lines.toSpliced(other, 0, line)),
          moved: withInner(without.toSpliced(other, 0, line)),
          cut: `${listLines()
            .slice(0, one + 1)
            .join('\n')}\n`,
        }[what];
        const { code, stderr } = await verifyForged(forged);
        const first = what === 'twice' ? other + 1 : what === 'moved' ? Math.min(one, other) + 1 : one + 1;
        const named = what === 'cut' || (what === 'out' && isLast) ? /the end / : new RegExp(`entry ${first}\\b`);
        expect([what, code]).toEqual([what, 1]);
        if (what !== 'twice' || other > 0) expect(stderr).toMatch(named);
      }),
      { numRuns: ALL ? 40 : 3 },
    );
  });

  test('made again as one chain it holds only as far as it adds up, and never against a head that was noted', async () => {
    const { head } = JSON.parse(`${genuine}`);
    expect(await verifyForged(chainOf(entries), '--head', head)).toMatchObject({ code: 0, stderr: '' });
    const change = (type: string, to: (entry: Entry) => object, nth = 0) => {
      const at = entries.flatMap((entry, index) => (entry.type === type ? [index] : []))[nth] ?? -1;
      return entries.with(at, { ...entries[at], ...to(entries[at] as Entry) } as Entry);
    };
    const drop = (type: string) => entries.filter((entry) => entry.type !== type);
    const forged: [readonly Entry[], string][] = [
      [change('row', () => ({ status: 'in-doubt' })), 'accepted: 15, the rows say 14'],
      [change('outcome', () => ({ counts: { accepted: 9 } })), 'it counts 9 rows, its intent 10'],
      [change('outcome', () => ({ counts: { accepted: 9, rejected: 1 } })), 'accepted: 15, the requests say 14'],
      [change('balance', ({ read }) => ({ read: Number(read) + 1 })), 'the rows that were read do not add up'],
      [drop('intent'), 'no intent of request 1'],
      [drop('balance'), 'the balance of step 1 is missing'],
      [drop('end'), 'the end of the run'],
      [drop('plan'), 'the plan comes first'],
      [[...entries, entries[3] as Entry], 'it stands behind end, where there is none'],
    ];
    const nth = (type: string, at: number) => entries.filter((entry) => entry.type === type)[at] as Entry;
    const insert = (before: string, ...more: object[]) =>
      entries.toSpliced(
        entries.findIndex(({ type }) => type === before),
        0,
        ...(more as Entry[]),
      );
    const swap = (counts: object) => ({ type: 'settled', at: 0, step: 1, from: 'accepted', counts });
    const first = nth('intent', 0);
    forged.push(
      // More than one entry of a kind, one that there is none of, and one where it cannot be.
      [insert('opened', { type: 'notice', text: 'all is well' }), 'it stands behind plan, where there is none'],
      [insert('end', nth('balance', 0)), 'a second balance'],
      [insert('balance', first), 'it stands behind receipts'],
      [insert('opened', { type: '__proto__' }), 'it stands behind plan'],
      // Counts that are none, or less than nothing.
      [change('outcome', () => ({ counts: { accepted: 12, rejected: -2 } })), 'not a whole number from 0 on'],
      [change('outcome', () => ({ counts: { accepted: '10' } })), 'not a whole number from 0 on'],
      [insert('row', swap({ rejected: 16 })), 'more rows than there are had been accepted'],
      // Rows that leave twice, that no one planned, or with no request.
      [insert('row', { ...first, request: 99 }), 'it sends planned row 1 a second time, behind request 1'],

      [change('intent', () => ({ rows: [20, 10] })), 'it has rows that were not planned'],
      [change('intent', () => ({ part: '0' })), 'was not split before it'],
      [insert('row', { ...first, step: 2 }), 'step 2 is not in the plan'],
      // A run that says it is finished, and is not.
      [drop('closed'), 'it says finished, the journal'],
      [change('end', () => ({ state: 'planned' })), 'it says planned, the journal'],
    );
    for (const [chain, said] of oneIn(6, forged)) {
      const { code, stderr } = await verifyForged(chainOf(chain));
      expect([code, stderr]).toEqual([1, expect.stringContaining(said)]);
    }
    // JSON that a reader understands otherwise than another one.
    const twofold = genuine.toString().replace('"state":"finished"', '"state":"stopped","state":"finished"');
    const lines = listLines();
    for (const json of [twofold.split('\n').at(-3), lines.at(-2)?.replace('"bytes":', '"bytes":-0,"bytes":')]) {
      const entry = /\{"entry":(\{.*\}),"sha256"/.exec(json ?? '')?.[1] ?? '';
      const { code, stderr } = await verifyForged(withLastEntry(lines, entry));
      expect([code, stderr]).toEqual([1, expect.stringContaining('is not written in the one way that there is')]);
    }
    const consistent = change('opened', () => ({ host: 'elsewhere' }));
    expect((await verifyForged(chainOf(consistent))).code).toBe(0);
    const noted = await verifyForged(chainOf(consistent), '--head', head);
    expect([noted.code, noted.stderr]).toEqual([1, expect.stringContaining('not the one that was noted')]);
  });

  test('an approval counts for this plan.json alone, and a signature for its key alone', async () => {
    const [plan = { type: 'plan' }, ...others] = entries;
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const { planSha256 } = plan;
    const at = Date.UTC(2026, 10, 22);
    const text = { approval: 1, plan: plan.run, planSha256, name: 'Bob', at: new Date(at).toISOString() };
    const signature = sign(null, Buffer.from(JSON.stringify(text)), privateKey).toString('base64');
    const pem = publicKey.export({ type: 'spki', format: 'pem' });
    const approval = { type: 'approval', at, name: 'Bob', planSha256, publicKey: pem, signature };
    const verifyApproval = (change: object) => verifyForged(chainOf([plan, { ...approval, ...change }, ...others]));

    expect(await verifyApproval({})).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('approved by "Bob" on 2026-11-22T00:00:00.000Z, signed with the key'),
    });
    const forged = [
      { name: 'Eve' },
      { at: at + 1 },
      { planSha256: '0'.repeat(64) },
      { signature: `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}` },
    ];
    for (const change of oneIn(2, forged)) expect((await verifyApproval(change)).code).toBe(1);
    const doubled = await verifyForged(chainOf([plan, approval, approval, ...others]));
    expect([doubled.code, doubled.stderr]).toEqual([
      1,
      expect.stringContaining('Bob planned it, or had approved before'),
    ]);

    const named = `Bob", signed with the key\n\u001b[2K`;
    const unsigned = await verifyApproval({ name: named, signature: undefined, publicKey: undefined });
    expect(unsigned.stdout.split('\n')[0]).toMatch(
      /^approved by "Bob\\", signed with the key\\n\\u001b\[2K" on .*not signed$/,
    );
  });
});

const CSV = '1-sms.results.csv';
/** A run of three rows, its proof, and what verify.mjs says of results in the place of its own. */
async function aProvenRun(output: object) {
  const workspace = await aJobFor(`${people(3)}Bad,n/a\n`, { output: { directory: 'out', ...output } });
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
  return { directory, verify, verifyResults };
}

let proven: Awaited<ReturnType<typeof aProvenRun>>;
let results: string;

beforeAll(async () => {
  proven = await aProvenRun({ csv: { delimiter: ';', bom: true } });
  results = readFileSync(join(proven.directory, CSV), 'utf8');
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
    for (const [args, said] of oneIn(2, asked)) {
      const { code, stdout, stderr } = await proven.verify(...args);
      expect([args, code, stdout, stderr]).toEqual([args, 2, '', expect.stringMatching(/^Cannot check: /)]);
      expect(stderr).toContain(said);
    }
  });

  test('holds results to the byte, workbooks as well, and refuses any with a byte changed, or of another run', async () => {
    const so = `${CSV}: it is the file of what was accepted in step 1, to the byte`;
    const held = await proven.verify('--salt', 'proof.salt', CSV, '--number', '+65 (9100) 00-02');
    expect([held.code, held.stderr, held.stdout]).toEqual([0, '', expect.stringContaining(so)]);
    expect(held.stdout).toContain('+65 (9100) 00-02: accepted (entry');

    const workbook = await aProvenRun({ format: 'xlsx' });
    expect((await workbook.verify('--salt', 'proof.salt', '1-sms.results.xlsx')).code).toBe(0);
    const refused = { code: 1, stderr: expect.stringContaining('does not hold: it was changed or written anew') };
    expect(await workbook.verifyResults(results)).toMatchObject(refused);
    const place = fc.nat(results.length - 1);
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: 127 }), async (at, bits) => {
        const changed = String.fromCharCode(results.charCodeAt(at) ^ bits);
        const forged = await proven.verifyResults(results.slice(0, at) + changed + results.slice(at + 1));
        expect(forged).toMatchObject(refused);
      }),
      { numRuns: ALL ? 40 : 4 },
    );
  }, 120_000);
});
