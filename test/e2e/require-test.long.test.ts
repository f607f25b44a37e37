import { describe, expect, test } from 'vitest';
import { aContactsStep, aJob } from './a-job.js';
import { aJobOf, MINE, planJobOf } from './a-job-to-test.js';
import { readFailure } from './failure.js';

describe('guards.requireTest', () => {
  const guards = { requireTest: true };

  test('holds apply and run until a test of this very plan was accepted, and names the command', async () => {
    const workspace = await aJobOf({ guards });
    const { id, directory } = await planJobOf(workspace);
    const refused = async (...args: string[]) => {
      const { error, exitCode } = readFailure(await workspace.volley(...args));
      expect([exitCode, error.code]).toEqual([4, 'guard']);
      return error;
    };

    expect(await refused('apply', directory)).toMatchObject({
      message: `Cannot send plan ${id}: it was not tested, expected an accepted test (guards.requireTest)`,
      hint: `Nothing was sent. Test it with \`volley test ${directory} --to NUMBER\`, then send it with \`volley apply ${directory}\`.`,
    });
    expect((await refused('run', 'job.yaml')).hint).toContain(`volley apply ${directory}`);
    await workspace.volley('test', 'job.yaml', '--to', MINE);
    await refused('apply', directory);
    workspace.setFaults({ kind: 'reject-rows', nth: 1, rows: 1 });
    expect((await workspace.volley('test', directory, '--to', MINE)).code).toBe(1);
    expect((await refused('apply', directory)).message).toContain('1 test of it, none accepted in full');
    workspace.setFaults();
    expect((await workspace.destinations()).filter((number) => number !== MINE)).toEqual([]);

    expect((await workspace.volley('test', directory, '--to', MINE)).code).toBe(0);

    expect((await workspace.volley('apply', directory)).summary.balance.accepted).toBe(30);

    const page = workspace.read(`${workspace.runOf(id)}/report.html`);
    expect(page).toMatch(/<h2>Tests<\/h2>\s*<p>2 tests of this plan, 1 accepted in full\.<\/p>/);
    expect(page).not.toMatch(/\+65|9800/);
    await workspace.volley('report', directory);
    expect(workspace.read(`${workspace.runOf(id)}/report.html`)).toBe(page);
  });

  test('a plan that was made again under other settings is another one; one that is the same stays tested, once the test is pruned too', async () => {
    const workspace = await aJobOf({ guards });
    const { id, directory } = await planJobOf(workspace);
    await workspace.volley('test', directory, '--to', MINE);
    workspace.writeJob(aJob(workspace, { guards: { ...guards, maxMessages: 50 } }));
    expect((await planJobOf(workspace)).id).toBe(id);
    expect((await workspace.volley('apply', directory)).code).toBe(4);

    workspace.writeJob(aJob(workspace, { guards }));
    await planJobOf(workspace);
    const { stdout } = await workspace.volley('prune', 'job.yaml', '--older-than', '0h');
    expect(JSON.parse(stdout).pruned).toHaveLength(1);

    expect((await workspace.run()).summary.balance.accepted).toBe(30);
  });

  test('counts a test whose message was in doubt, and was settled', async () => {
    const workspace = await aJobOf({ guards });
    const { directory } = await planJobOf(workspace);
    workspace.setFaults({ kind: 'reset-after', nth: 1 });
    const sent = await workspace.volley('test', directory, '--to', MINE);
    expect([sent.code, sent.summary.balance.inDoubt]).toEqual([3, 1]);
    workspace.setFaults();
    expect((await workspace.volley('apply', directory)).code).toBe(4);

    const settled = await workspace.volley('settle', sent.summary.directory, '--assume', 'sent', '--confirm', '1');

    expect(settled.code).toBe(0);
    expect((await workspace.volley('apply', directory)).summary.balance.accepted).toBe(30);
  });

  test('needs a step that can be tested', async () => {
    const workspace = await aJobOf({ guards, steps: [aContactsStep()] });
    const { error } = readFailure(await workspace.volley('check', 'job.yaml'));
    expect(error.problems).toMatchObject([
      { message: 'guards.requireTest needs messages to test, expected a step of kind sms' },
    ]);
  });
});
