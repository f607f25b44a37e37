import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { oneIn } from '../one-in.js';
import { anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { expectEachOnce } from './account.js';
import { type Ended, readFailure } from './command.js';
import { needStrace } from './of-the-machine.js';

const PEOPLE = 60;
const strace = needStrace();

/** Under a limit of the shell's own, such as `-f 8`. */
const underLimit = (limit: string) => ['sh', '-c', `ulimit ${limit}; exec "$@"`, 'sh'];

describe.concurrent('a file that may not grow beyond a limit', () => {
  const ROOMS = [
    ['the lock, and nothing else', 1],
    ['a part of the plan', 9],
    ['the plan, and a part of the journal', 41],
    ['the plan, and most of the journal', 56],
  ] as const;
  test.each(oneIn(4, ROOMS))(
    'which leaves room for %s: 75, the error of the disk, and the same command finishes',
    async (room, blocks) => {
      const workspace = await aJobOf({ batchSize: 1 });

      const ended = await workspace.runUnder(underLimit(`-f ${blocks}`));

      expectDiskError(ended, 'EFBIG');
      await expectOnlyIntended(workspace);
      expect((await workspace.sms()).length > 0).toBe(room.includes('journal'));
      await expectFinishes(workspace);
    },
  );
});

describe.skipIf(strace.isMissing)(strace.title('a disk that says that it did not keep what it was given'), () => {
  const CALLS = [
    ['fdatasync', 'EIO', 1],
    ['fdatasync', 'EIO', 4],
    ['fdatasync', 'ENOSPC', 9],
    ['write', 'ENOSPC', 6],
  ] as const;
  test.concurrent.each(oneIn(4, CALLS))(
    '%s of the journal is %s at its call number %i: 75, it is not tried again, and the same command finishes',
    async (name, error, nth) => {
      const workspace = await aJobOf({ batchSize: 2 });
      const journal = join(await workspace.plan(), 'journal.ndjson');
      const inject = [`-e`, `trace=${name}`, '-e', `inject=${name}:error=${error}:when=${nth}`];

      const tracer = ['strace', '-f', '-o', workspace.path('trace'), '-P', journal, ...inject];
      // One thread: strace counts the calls of each.
      const ended = await workspace.runUnder(tracer, { env: { UV_USE_IO_URING: '0', UV_THREADPOOL_SIZE: '1' } });

      expect([ended.code, ended.stderr]).toEqual([75, expect.stringContaining(error)]);
      expect(workspace.read('trace').match(new RegExp(`${name}\\(`, 'g'))).toHaveLength(nth);
      await expectOnlyIntended(workspace);
      await expectFinishes(workspace);
    },
  );
});

/** The fewest with which node itself can start, and load one file. */
const FLOOR = findFloor();
/**
 * From there on it is loading that fails: of the verbs, of a command, of a library; the highest leave room for all of
 * it, or for nearly all.
 */
const LIMITS = [1, 5, 11, 26, 33, 41, 56, 63, 71, 81, 99, 106, 113, 117, 131].map((more) => FLOOR + more);

test.concurrent.each(oneIn(15, LIMITS))(
  'a process that may open few files %i: 75, 4 or 0, in plain words, nothing sent twice, and without the limit the same command finishes',
  async (limit) => {
    const workspace = await aJobOf({ batchSize: 10 });
    const ended = await workspace.runUnder(underLimit(`-n ${limit}`));
    const { code, stderr } = ended;
    expect([0, 4, 75], stderr).toContain(code);
    if (code !== 0) {
      readFailure(ended);
      expect(stderr).toMatch(/EMFILE|ulimit -n/);
      // No stack, and nothing of node's own.
      expect(stderr).not.toMatch(/^ +at |node:internal|Node\.js v/m);
    }
    if (existsSync(workspace.path('out/sale'))) await expectOnlyIntended(workspace);
    const sent = await workspace.destinations();
    expect(sent).toEqual([...new Set(sent)]);
    if (code !== 0) await expectFinishes(workspace);
  },
);

const OURS = 'An error in volley itself';
const THROWN_LATER = [
  ['an error that no one caught', "setImmediate(() => { throw new Error('late') })", 4, OURS],
  ['a rejection that no one handled', "Promise.reject(new Error('late'))", 4, OURS],
  [
    'a process that can open no file any more',
    "setImmediate(() => { for (;;) openSync('/dev/null') })",
    75,
    '(EMFILE, open)',
  ],
] as const;

test.concurrent.each(oneIn(3, THROWN_LATER))(
  '%s ends the command at once with a code of its own, never 1',
  async (_, code, exitCode, told) => {
    const workspace = await aJobOf({ batchSize: 10 });
    workspace.setFaults({ kind: 'latency', delayMs: 60_000, area: 'sms' });
    // On the first request: the command is in the middle of its work.
    const onRequest = `data:text/javascript,${encodeURIComponent(
      `import { subscribe } from 'node:diagnostics_channel';\nimport { openSync } from 'node:fs';\nsubscribe('undici:client:sendHeaders', () => { ${code} });`,
    )}`;

    const ended = await workspace.runUnder(underLimit('-n 200'), { nodeArguments: ['--import', onRequest] });

    expect([ended.code, ended.signal]).toEqual([exitCode, null]);
    expect(ended.stderr).toContain(told);
    await expectOnlyIntended(workspace);
  },
);

function findFloor(): number {
  const empty = join(mkdtempSync(join(tmpdir(), 'volley-empty-')), 'empty.mjs');
  writeFileSync(empty, '');
  for (let limit = 16; limit < 100; limit++) {
    const [program = '', ...args] = [...underLimit(`-n ${limit}`), process.execPath, empty];
    if (spawnSync(program, args).status === 0) return limit;
  }
  throw new Error('Node does not start with 100 file descriptors');
}

/** A job that sends sixty messages, three requests at once. */
function aJobOf(step: object): Promise<Workspace> {
  const limits = { requestsPerSecond: 1000, concurrency: 3 };
  // Without a connection nothing is sent, and this long it is tried.
  const service = { giveUpAfterSeconds: 1 };
  return aJobFor(people(PEOPLE), { steps: [anSmsStep({ limits, ...step })], service }, { kind: 'latency', delayMs: 5 });
}

/** The path that it is about is named. */
function expectDiskError(ended: Ended, error: string): void {
  expect(readFailure(ended)).toMatchObject({ exitCode: 75, error: { code: error } });
  expect(ended.stderr).toMatch(new RegExp(`Cannot [a-z ]+ /.*\\(${error}, `, 'm'));
}

/** What the service took has an intent in the journal. */
async function expectOnlyIntended(workspace: Workspace): Promise<void> {
  const path = workspace.path(`${workspace.firstRun()}/journal.ndjson`);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  const numbers = numbersOf(PEOPLE);
  const intended = lines.flatMap((line) => {
    const entry = JSON.parse(line);
    return entry.type === 'intent' ? numbers.slice(entry.rows[0], entry.rows[0] + entry.rows[1]) : [];
  });
  expect((await workspace.destinations()).filter((number) => !intended.includes(number))).toEqual([]);
}

/** Each person gets one message, no more and no fewer, save those whose outcome could not be written. */
async function expectFinishes(workspace: Workspace): Promise<void> {
  const { code, summary } = await workspace.run();
  const { inDoubt } = summary.balance;
  expect([summary.state, code]).toEqual(['finished', inDoubt > 0 ? 3 : 0]);
  // Of three requests at once of two rows, or one.
  expect(inDoubt).toBeLessThanOrEqual(6);
  await expectEachOnce(workspace, PEOPLE);
}
