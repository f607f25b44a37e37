import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { ALL, oneIn } from '../one-in.js';
import { numberOf, people } from './a-job.js';
import { chainOf, type Entry, type Proof, prove } from './a-proof.js';
import { aJobFor } from './a-workspace.js';

const RUNS = { numRuns: ALL ? 40 : 3 };
const refusedFor = (why: string | RegExp) => ({ code: 1, stderr: expect.stringMatching(why) });
const saying = (text: string) => expect.stringContaining(text);

let proof: Proof;

beforeAll(async () => {
  const workspace = await aJobFor(`${people(25)}Zoë,n/a\nAgain,${numberOf(1)}\n`, {}, { kind: 'reset-after', nth: 2 });
  proof = await prove(workspace, (await workspace.run()).summary.directory);
}, 120_000);

const listLines = () => proof.text.trimEnd().split('\n');
/** Those of its entries. */
const listInner = () => listLines().slice(1, -1);
/** The proof with these lines, their commas as they belong. */
const withInner = (lines: readonly string[]) => {
  const inner = lines.map((line, at) => `${at === 0 ? '' : ','}${line.replace(/^,/, '')}\n`).join('');
  return `${listLines()[0]}\n${inner}${listLines().at(-1)}\n`;
};

/** One chain, whose last entry is this text. */
function withLastEntry(json: string): string {
  const lines = listLines();
  const [before = '', last = ''] = lines.slice(-3);
  const head = createHash('sha256')
    .update(`${/"sha256":"(\w+)"\}$/.exec(before)?.[1]}${json}`)
    .digest('hex');
  const changed = last.replace(/\{"entry":.*/, () => `{"entry":${json},"sha256":"${head}"}`);
  return [...lines.slice(0, -2), changed, `],"head":"${head}"}`, ''].join('\n');
}

/** Other entries than those of the proof, and what is said of their chain. */
function listForgeries(): readonly (readonly [readonly Entry[], string])[] {
  const { entries } = proof;
  const first = (type: string) => entries.find((entry) => entry.type === type) as Entry;
  const change = (type: string, changes: object) =>
    entries.with(entries.indexOf(first(type)), { ...first(type), ...changes });
  const drop = (type: string) => entries.filter((entry) => entry.type !== type);
  const insert = (before: string, entry: object) =>
    entries.toSpliced(entries.indexOf(first(before)), 0, entry as Entry);
  const swap = (counts: object) => ({ type: 'settled', at: 0, step: 1, from: 'accepted', counts });
  return [
    [change('row', { status: 'in-doubt' }), 'accepted: 15, the rows say 14'],
    [change('outcome', { counts: { accepted: 9 } }), 'it counts 9 rows, its intent 10'],
    [change('outcome', { counts: { accepted: 9, rejected: 1 } }), 'accepted: 15, the requests say 14'],
    [change('balance', { read: Number(first('balance').read) + 1 }), 'the rows that were read do not add up'],
    [drop('intent'), 'no intent of request 1'],
    [drop('balance'), 'the balance of step 1 is missing'],
    [drop('end'), 'the end of the run'],
    [drop('plan'), 'the plan comes first'],
    [[...entries, entries[3] as Entry], 'it stands behind end, where there is none'],
    // More than one entry of a kind, one that there is none of, and one where it cannot be.
    [insert('opened', { type: 'notice', text: 'all is well' }), 'it stands behind plan, where there is none'],
    [insert('end', first('balance')), 'a second balance'],
    [insert('balance', first('intent')), 'it stands behind receipts'],
    [insert('opened', { type: '__proto__' }), 'it stands behind plan'],
    // Counts that are none, or less than nothing.
    [change('outcome', { counts: { accepted: 12, rejected: -2 } }), 'not a whole number from 0 on'],
    [change('outcome', { counts: { accepted: '10' } }), 'not a whole number from 0 on'],
    [insert('row', swap({ rejected: 16 })), 'more rows than there are had been accepted'],
    // Rows that leave twice, that no one planned, or with no request.
    [insert('row', { ...first('intent'), request: 99 }), 'it sends planned row 1 a second time, behind request 1'],
    [change('intent', { rows: [20, 10] }), 'it has rows that were not planned'],
    [change('intent', { part: '0' }), 'was not split before it'],
    [insert('row', { ...first('intent'), step: 2 }), 'step 2 is not in the plan'],
    // A run that says it is finished, and is not.
    [drop('closed'), 'it says finished, the journal'],
    [change('end', { state: 'planned' }), 'it says planned, the journal'],
  ];
}

describe.concurrent('a proof that was changed', () => {
  test('is refused with any one byte changed, wherever it is', async () => {
    const genuine = Buffer.from(proof.text);
    const place = fc.nat(genuine.length - 1);
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: 255 }), async (at, bits) => {
        const changed = Buffer.from(genuine);
        changed[at] = (changed[at] ?? 0) ^ bits;
        expect(await proof.verifyForged(changed)).toMatchObject(refusedFor(/does not hold: \S/));
      }),
      RUNS,
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
          cut: [...listLines().slice(0, one + 1), ''].join('\n'),
        }[what];
        const { code, stderr } = await proof.verifyForged(forged);
        const first = what === 'twice' ? other + 1 : what === 'moved' ? Math.min(one, other) + 1 : one + 1;
        const named = what === 'cut' || (what === 'out' && isLast) ? /the end / : new RegExp(`entry ${first}\\b`);
        expect([what, code]).toEqual([what, 1]);
        if (what !== 'twice' || other > 0) expect(stderr).toMatch(named);
      }),
      RUNS,
    );
  });

  test('made again as one chain it holds only as far as it adds up, and never against a head that was noted', async () => {
    const { entries, printed, text } = proof;
    const held = { code: 0, stderr: '' };
    expect(await proof.verifyForged(chainOf(entries), '--head', printed.head)).toMatchObject(held);
    for (const [chain, said] of oneIn(6, listForgeries())) {
      const { code, stderr } = await proof.verifyForged(chainOf(chain));
      expect([code, stderr]).toEqual([1, saying(said)]);
    }
    // JSON that a reader understands otherwise than another one.
    const twofold = text.replace('"state":"finished"', '"state":"stopped","state":"finished"');
    for (const json of [twofold.split('\n').at(-3), listLines().at(-2)?.replace('"bytes":', '"bytes":-0,"bytes":')]) {
      const entry = /\{"entry":(\{.*\}),"sha256"/.exec(json ?? '')?.[1] ?? '';
      const forged = await proof.verifyForged(withLastEntry(entry));
      expect(forged).toMatchObject(refusedFor('is not written in the one way that there is'));
    }
    const elsewhere = entries.map((entry) => (entry.type === 'opened' ? { ...entry, host: 'elsewhere' } : entry));
    expect((await proof.verifyForged(chainOf(elsewhere))).code).toBe(0);
    const noted = await proof.verifyForged(chainOf(elsewhere), '--head', printed.head);
    expect(noted).toMatchObject(refusedFor('not the one that was noted'));
  });

  test('an approval counts for this plan.json alone, and a signature for its key alone', async () => {
    const [plan = { type: 'plan' }, ...others] = proof.entries;
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const { planSha256 } = plan;
    const at = Date.UTC(2026, 10, 22);
    const text = { approval: 1, plan: plan.run, planSha256, name: 'Bob', at: new Date(at).toISOString() };
    const signature = sign(null, Buffer.from(JSON.stringify(text)), privateKey).toString('base64');
    const pem = publicKey.export({ type: 'spki', format: 'pem' });
    const approval = { type: 'approval', at, name: 'Bob', planSha256, publicKey: pem, signature };
    const verify = (...changes: object[]) =>
      proof.verifyForged(chainOf([plan, ...changes.map((change) => ({ ...approval, ...change })), ...others]));

    const signed = saying('approved by "Bob" on 2026-11-22T00:00:00.000Z, signed with the key');
    expect(await verify({})).toMatchObject({ code: 0, stdout: signed });
    const forged = [
      { name: 'Eve' },
      { at: at + 1 },
      { planSha256: '0'.repeat(64) },
      { signature: `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}` },
    ];
    for (const change of oneIn(2, forged)) expect((await verify(change)).code).toBe(1);
    expect(await verify({}, {})).toMatchObject(refusedFor('Bob planned it, or had approved before'));

    const name = `Bob", signed with the key\n\u001b[2K`;
    const [unsigned] = (await verify({ name, signature: undefined, publicKey: undefined })).stdout.split('\n');
    expect(unsigned).toMatch(/^approved by "Bob\\", signed with the key\\n\\u001b\[2K" on .*not signed$/);
  });
});

const CSV = '1-sms.results.csv';
const SALTED = ['--salt', 'proof.salt'];
/** The proof of a run of three rows. */
async function aProvenRun(output: object): Promise<Proof> {
  const workspace = await aJobFor(`${people(3)}Bad,n/a\n`, { output: { directory: 'out', ...output } });
  return prove(workspace, (await workspace.run()).summary.directory);
}

let proven: Proof;
beforeAll(async () => {
  proven = await aProvenRun({ csv: { delimiter: ';', bom: true } });
}, 120_000);

describe.concurrent('verify.mjs', () => {
  const ASKED: readonly (readonly [string[], string])[] = [
    [['nowhere.csv'], 'expected --salt proof.salt as well'],
    [['--number', numberOf(1)], 'expected --salt proof.salt as well'],
    [[...SALTED, '--number', numberOf(1).slice(3)], 'expected one such as +6591234567'],
    [[...SALTED, 'nowhere.csv'], 'no such file'],
    [[...SALTED, CSV, CSV], 'one file too many'],
    [['--slat', 'proof.salt', CSV], "'--slat'"],
  ];
  test.each(oneIn(2, ASKED))(
    'refuses to check less than it was asked to, and says what to give: %j',
    async (args, said) => {
      const { code, stdout, stderr } = await proven.verify(...args);
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/^Cannot check: /)]);
      expect(stderr).toContain(said);
    },
  );

  test('holds results to the byte, workbooks as well, and refuses any with a byte changed, or of another run', async () => {
    const stdout = saying(`${CSV}: it is the file of what was accepted in step 1, to the byte`);
    const held = await proven.verify(...SALTED, CSV, '--number', '+65 (9100) 00-02');
    expect(held).toMatchObject({ code: 0, stderr: '', stdout });
    expect(held.stdout).toContain('+65 (9100) 00-02: accepted (entry');

    const workbook = await aProvenRun({ format: 'xlsx' });
    expect((await workbook.verify(...SALTED, '1-sms.results.xlsx')).code).toBe(0);
    const results = proven.read(CSV);
    const verify = (of: Proof, content: string) => of.verify(...SALTED, of.write(content));
    const refused = refusedFor('does not hold: it was changed or written anew');
    expect(await verify(workbook, results)).toMatchObject(refused);
    const place = fc.nat(results.length - 1);
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: 127 }), async (at, bits) => {
        const changed = String.fromCharCode(results.charCodeAt(at) ^ bits);
        const forged = results.slice(0, at) + changed + results.slice(at + 1);
        expect(await verify(proven, forged)).toMatchObject(refused);
      }),
      RUNS,
    );
  }, 120_000);
});
