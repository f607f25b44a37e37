import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Env, nodeEnv } from '../../src/command/env.js';
import { runVerb } from '../../src/command/runner.js';
import type { Terminal } from '../../src/command/terminal.js';
import { UserError } from '../../src/domain/errors.js';
import { readSealed, sealJson } from '../../src/plan/format/sealed-json.js';
import { systemClock } from '../../src/ports/clock.js';
import { check } from '../../src/verbs/check.js';
import { aTerminal } from '../command/a-terminal.js';
import { planJob, runJob } from '../command/give-verb.js';
import { oneIn } from '../one-in.js';
import { aFolder } from '../plan/a-plan.js';

const GOOD = 'mobile,name,lang\n+6591234567,Ann,en\n';
const OWN = '_step,_file,_line,_row,_status,_umid,_clientMessageId,_batchId,_destination,_segments,_description';

interface Files {
  readonly [name: string]: string | Uint8Array;
}

function aJobFile(files: Files, { input = 'people.csv', encoding = '', times = '' } = {}): string {
  const directory = aFolder({ 'people.csv': GOOD, ...files });
  const suppress = 'stop.csv' in files ? '\n    suppress: { files: [stop.csv] }' : '';
  const job = join(directory, 'job.yaml');
  writeFileSync(
    job,
    `name: sale
service: { sandbox: true }
steps:
  - kind: sms
    input: { files: ["${input}"], country: SG${encoding && `, encoding: ${encoding}`} }
    destination: mobile
    template: { source: ACME, text: "Hi {{ name }}"${times} }${suppress}
output: out
`,
  );
  return job;
}

function checkJob(flags: { job: string; json: boolean | undefined }, host: Terminal): Promise<number> {
  return runVerb('check', check, { ...flags, online: false }, host);
}

const AT_NOON: Env = { ...nodeEnv, clock: { ...systemClock, now: () => Date.parse('2026-11-22T12:00:00Z') } };

type Command = (flags: { job: string; json: boolean | undefined }, host: Terminal) => Promise<number>;

async function problemsOf(command: Command, job: string): Promise<string[]> {
  try {
    await command({ job, json: undefined }, { ...aTerminal().terminal, runtime: AT_NOON });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.problems.map(({ where, message }) => `${where}: ${message}`);
  }
  return [];
}

const EXPIRES_BEFORE = 'scheduled: 2026-11-23T12:00:00Z, expiry: 2026-11-23T11:00:00Z';

const latin = (text: string) => Buffer.from(text, 'latin1');
const aLongFile = (end: string) => `${GOOD}${'+6591234567,Ann,en\n'.repeat(40_000)}${end}`;

/** What is wrong with the files, or with the input of the job. */
const FAULTS: [string, Files, { input?: string; encoding?: string }?][] = [
  ['bytes that are no UTF-8', { 'people.csv': latin('mobile,name\n+6591234567,José\n') }],
  [
    'bytes that are none of the stated encoding',
    { 'people.csv': latin('mobile,name\n+65,\xfa\x3f\n') },
    { encoding: 'big5' },
  ],
  ['UTF-16 without a mark', { 'people.csv': Buffer.from(GOOD, 'utf16le') }],
  ['an empty file', { 'people.csv': '' }],
  ['a header that lacks columns', { 'people.csv': 'phone,first\n+6591234567,Ann\n' }],
  ['a column that stands twice', { 'people.csv': 'mobile,name,mobile\n+6591234567,Ann,1\n' }],
  ['a forbidden header', { 'people.csv': 'mobile,name,__proto__\n+6591234567,Ann,1\n' }],
  ['two delimiters', { 'people.csv': 'mobile;name,lang\n' }],
  ['a quote that never closes', { 'people.csv': `${GOOD}"+6591234567,Ann\n` }],
  ['a gzip that is cut off', { 'people.csv.gz': gzipSync(GOOD).subarray(0, 30) }, { input: 'people.csv.gz' }],
  ['a workbook', { 'people.csv': 'PK\u0003\u0004rest' }],
  [
    'results of the same kind',
    { 'people.csv': `${OWN},mobile,name\n1,a.csv,2,1,QUEUED,u,c,b,+6591234567,1,ok,+6591234567,Ann\n` },
  ],
  [
    'NDJSON that lacks a key in all of its rows',
    { 'people.ndjson': '{"mobile":"+6591234567"}\n' },
    { input: 'people.ndjson' },
  ],
  ['a file that is not there', {}, { input: 'gone.csv' }],
  ['a list in another encoding', { 'stop.csv': latin('mobile,name\n+6591234567,José\n') }],
  ['a list without a header', { 'stop.csv': '+6591234567\n+6598765432\n' }],
  ['a list without numbers', { 'stop.csv': 'name\nAnn\n' }],
  ['a list with a number that cannot be read', { 'stop.csv': 'mobile\n+6591234567\n+65912345678901234\n' }],
  ['a long list without a header', { 'stop.csv': '+6591234567\n'.repeat(5000) }],
  ['both at once', { 'people.csv': 'phone\n1\n', 'stop.csv': '' }],
];

it.each<(typeof FAULTS)[number]>(oneIn(3, FAULTS))(
  'check refuses what plan would refuse of the first rows of a file, in the same words: %s',
  async (_what, files, options) => {
    const job = aJobFile(files, options);
    const planned = await problemsOf(planJob, job);
    expect(planned).not.toEqual([]);
    expect(await problemsOf(checkJob, job)).toEqual(planned);
  },
);

describe('check', () => {
  it('says of a job that can be planned how far it has looked', async () => {
    const { terminal, said } = aTerminal({ isStdoutTerminal: true });
    const job = aJobFile({ 'stop.csv': 'mobile\n+6598765432\n' });
    expect(await checkJob({ job, json: undefined }, terminal)).toBe(0);
    expect(said.stdout).toBe(
      'Job sale can be planned, as far as the job file, its secrets and the first rows of each file show.\n  step 1 (sms): people.csv, stop.csv\n    stop.csv: 1 read in column mobile · 0 found among the recipients · 1 not\n  sameText is not said: a row whose number had exactly its text before is held, and the run ends with exit code 1. Decide: sameText: hold, skip or send\n',
    );
  });

  it.each([
    [
      'a time that has passed',
      'scheduled: 2026-11-22T11:59:00Z',
      /scheduled, 22 November 2026 at 11:59 UTC, is in the past/,
    ],
    ['a time too far ahead', 'scheduled: 2026-12-15T12:00:00Z', /is 23 days ahead, expected 7 at most$/],
    ['an expiry that has passed', 'expiry: 2026-11-22T11:59:00Z', /template\.expiry, .*, is in the past/],
    ['an expiry before its time', EXPIRES_BEFORE, /expiry, .*, is not after template\.scheduled/],
  ])('refuses %s in the words of plan and run, with the line in the job file', async (_what, times, words) => {
    const job = aJobFile({}, { times: `, ${times}` });
    for (const command of [checkJob, planJob, runJob]) {
      const problems = await problemsOf(command, job);
      expect(problems).toEqual([expect.stringMatching(words)]);
      expect(problems[0]).toMatch(/^\/.*job\.yaml:7:\d+: template\./);
    }
  });

  it.each([
    ['that is not set', {}, 'the environment variable HOOK is not set, expected it to contain the address of notify'],
    ['beyond this machine without TLS', { HOOK: 'http://hooks.example.com/SECRET' }, 'it is no address to post to'],
  ])('refuses an address of notify %s', async (_what, env, words) => {
    const job = aJobFile({});
    writeFileSync(job, `${readFileSync(job, 'utf8')}notify: { url: { env: HOOK } }\n`);
    const { terminal } = aTerminal({ env });
    const problem = { where: 'notify.url', message: expect.stringContaining(words) };
    await expect(checkJob({ job, json: undefined }, terminal)).rejects.toMatchObject({ problems: [problem] });
    const hooked = aTerminal({ env: { HOOK: 'https://hooks.example.com/SECRET' } });
    expect(await checkJob({ job, json: undefined }, hooked.terminal)).toBe(0);
  });

  it('finds a run of another format, which run would refuse', async () => {
    const job = aJobFile({});
    await planJob({ job, json: true }, aTerminal().terminal);
    const directory = join(job, '../out/sale');
    const [run = ''] = readdirSync(directory).filter((name) => name.startsWith('20'));
    const path = join(directory, run, 'plan.json');
    writeFileSync(path, sealJson({ ...readSealed(readFileSync(path, 'utf8')), format: 99 }));
    expect(await problemsOf(checkJob, job)).toEqual([expect.stringMatching(/its format is 99, expected \d+$/)]);
  });

  it('lets an inbox be empty, and a time pass in a step that no file feeds, as plan does', async () => {
    const { terminal, said } = aTerminal({ isStdoutTerminal: true });
    const job = aJobFile({}, { input: 'inbox*.csv', times: ', scheduled: 2026-11-22T11:59:00Z' });
    expect(await checkJob({ job, json: undefined }, { ...terminal, runtime: AT_NOON })).toBe(0);
    expect(said.stdout).toContain('no file matches inbox*.csv yet');
    expect(await problemsOf(planJob, job)).toEqual([]);
  });

  it.each([
    ['6.59E+09', '(spreadsheet-number): a spreadsheet changed it; export it as text'],
    ['4915112345678', '(lost-plus): the number lost its +; put it back'],
    ['', '(empty): no number in the cell; fill it in, or remove the row'],
  ])(
    'warns where most of the first rows would be rejected for one reason, without a number: %j',
    async (mobile, why) => {
      const job = aJobFile({ 'people.csv': `${GOOD}${`${mobile},Ann,en\n`.repeat(4)}` });
      const { terminal, said } = aTerminal({ isStdoutTerminal: true });
      expect(await checkJob({ job, json: undefined }, terminal)).toBe(0);
      expect(said.stdout.replace(/\s+/g, ' ')).toContain(`people.csv: 4 of the first 5 rows would be rejected ${why}`);
      expect(said.stdout).not.toContain('12345678');
    },
  );

  it('warns where most numbers of the first rows have no country that they are read in', async () => {
    const rows = (count: number, number: string) => `${number},Ann,en\n`.repeat(count);
    const saidOf = async (people: string, { isNamed = false } = {}) => {
      const job = aJobFile({ 'people.csv': `mobile,name,lang\n${people}` });
      if (!isNamed) writeFileSync(job, readFileSync(job, 'utf8').replace(', country: SG', ''));
      const { terminal, said } = aTerminal({ isStdoutTerminal: true });
      expect(await checkJob({ job, json: undefined }, terminal)).toBe(0);
      return said.stdout;
    };
    const warning = 'people.csv: 3 of the first 5 rows have a number without + and no country, and would be rejected';
    expect(await saidOf(rows(3, '91234567') + rows(2, '+6591234567'))).toContain(warning);
    expect(await saidOf(rows(40_000, '91234567'))).toContain('1,000 of the first 1,000 rows have a number without +');
    expect(await saidOf(rows(2, '91234567') + rows(2, '+6591234567'))).not.toContain('no country');
    expect(await saidOf(rows(3, '91234567'), { isNamed: true })).not.toContain('no country');
    expect(await saidOf('')).not.toContain('no country');
  });

  it.each([
    ['mobile,name,\n+6591234567,Ann,en\n', 'columns without a name cannot be used: 3'],
    ['mobile,name,lang,lang\n+6591234567,Ann,en,en\n', 'columns 3 and 4 have the same name and are numbered'],
    ['Mobile,name\n+6591234567,Ann\n', 'its column "Mobile" is taken for "mobile"'],
    ['mobile;name\n+6591234567;Ann\n', 'the delimiter is ";", found from the header'],
    ['mobile,name\n', 'it holds a header and no rows'],
    [GOOD, undefined],
  ])('says how a file is read where that is not usual, as the plan does: %j', async (people, notice) => {
    const { terminal, said } = aTerminal({ isStdoutTerminal: true });
    expect(await checkJob({ job: aJobFile({ 'people.csv': people }), json: undefined }, terminal)).toBe(0);
    const text = said.stdout.replace(/\s+/g, ' ');
    if (notice === undefined) expect(text).not.toContain('people.csv: the');
    else expect(text).toContain(`people.csv: ${notice}`);
  });

  it('warns of a variable TZ that names no zone, as the plan does', async () => {
    for (const [TZ, isWarned] of Object.entries({ 'Europe/Berln': true, 'Europe/Berlin': false, '': false })) {
      const job = aJobFile({});
      const warned = [checkJob, planJob].map(async (command) => {
        const { terminal, said } = aTerminal({ env: { TZ } });
        await command({ job, json: undefined }, terminal);
        return /the variable TZ is/.test(said.stdout + said.stderr);
      });
      expect(await Promise.all(warned), TZ).toEqual([isWarned, isWarned]);
    }
  });

  it('does not read a long file to its end: a key of NDJSON may still come', async () => {
    const rows = '{"mobile":"+6591234567"}\n'.repeat(40_000);
    const ndjson = aJobFile({ 'people.ndjson': `${rows}{"name":"Ann"}\n` }, { input: 'people.ndjson' });
    expect(await problemsOf(checkJob, ndjson)).toEqual([]);
    const csv = aJobFile({ 'people.csv': aLongFile('"never closed\n') });
    expect(await problemsOf(checkJob, csv)).toEqual([]);
    expect(await problemsOf(planJob, csv)).toHaveLength(1);
  });
});
