import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { oneIn } from '../one-in.js';
import { aJobOf, expectFinishes, expectOnlyIntended } from './disk-errors.js';
import { readFailure } from './failure.js';
import { runUnder, underLimit } from './run-under.js';

/** The fewest with which node itself can start, and load one file. */
const FLOOR = findFloor();
/**
 * From there on it is loading that fails: of the verbs, of a command, of a library; the highest leave room for all of
 * it, or for nearly all.
 */
const LIMITS = [0, 1, 5, 11, 26, 33, 41, 56, 63, 71, 81, 99, 106, 113, 117, 131].map((more) => FLOOR + more);

describe.concurrent('a process that may open few files', () => {
  test.each(oneIn(8, LIMITS))(
    '%i: 75, 4 or 0, in plain words, nothing sent twice, and without the limit the same command finishes',
    async (limit) => {
      const workspace = await aJobOf({ batchSize: 10 });

      const ended = await runUnder(workspace, underLimit(`-n ${limit}`));
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

  test('so few that not even the verbs can be read: 75, and what to do', async () => {
    const workspace = await aJobOf({ batchSize: 10 });

    const ended = await runUnder(workspace, underLimit(`-n ${FLOOR}`));

    expect(readFailure(ended)).toMatchObject({ state: 'stopped', exitCode: 75, error: { code: 'EMFILE' } });
    expect(ended.stderr).toContain('Cannot continue: the system refused open (EMFILE)');
    expect(ended.stderr).toContain('run the same command to resume');
  });
});

const THROWN_LATER = [
  ['an error that no one caught', "setImmediate(() => { throw new Error('late') })", 4, 'An error in volley itself'],
  ['a rejection that no one handled', "Promise.reject(new Error('late'))", 4, 'An error in volley itself'],
  [
    'an error of the system that no one caught',
    "setImmediate(() => { throw Object.assign(new Error('late'), { code: 'EMFILE', syscall: 'open' }) })",
    75,
    '(EMFILE, open)',
  ],
] as const;

test.concurrent.each(THROWN_LATER)(
  '%s ends the command at once with a code of its own, never 1',
  async (_, code, exitCode, told) => {
    const workspace = await aJobOf({ batchSize: 10 });
    workspace.setFaults({ kind: 'latency', delayMs: 60_000, area: 'sms' });
    // On the first request: the command is in the middle of its work.
    const onRequest = `data:text/javascript,${encodeURIComponent(
      `import { subscribe } from 'node:diagnostics_channel';\nsubscribe('undici:client:sendHeaders', () => { ${code} });`,
    )}`;

    const ended = await runUnder(workspace, ['env'], { nodeArguments: ['--import', onRequest] });

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
