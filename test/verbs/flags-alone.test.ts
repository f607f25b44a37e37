import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import yargs from 'yargs';
import { addVerbs, VERBS } from '../../src/verbs/verbs.js';
import { aCaller } from '../command/a-single-call.js';
import { runCommandInProcess } from '../e2e/command-in-process.js';

/** What `--help` of a verb says, each option on a line of its own. */
async function help(verb: readonly string[]): Promise<string> {
  const { terminal } = aCaller({ sandbox: true });
  const cli = yargs().scriptName('volley').wrap(null).exitProcess(false);
  const verbs = await addVerbs(cli, { terminal, finish: async () => {} });
  return new Promise((resolve) => {
    void verbs.parseAsync([...verb, '--help'], {}, (_error, _argv, output) => resolve(output));
  });
}

/** Each verb, and each below it, with all that it cannot do without. */
async function listVerbs(above: readonly string[], names: readonly string[]): Promise<string[][]> {
  const found: string[][] = [];
  for (const name of names) {
    const verb = [...above, name];
    const text = await help(verb);
    const below = [...text.matchAll(new RegExp(`^  volley ${verb.join(' ')} ([a-z]+)\\b(?=.*  )`, 'gm'))].flatMap(
      ([, each = '']) => (/^Commands:$/m.test(text) ? [each] : []),
    );
    if (below.length > 0) found.push(...(await listVerbs(verb, [...new Set(below)])));
    else {
      const places = /^volley .*$/m.exec(text)?.[0].match(/<[^>]+>/g) ?? [];
      const required = [...text.matchAll(/^ +--([\w-]+).*\[required\]/gm)].map(([, flag]) => `--${flag}=x`);
      found.push([...verb, ...places.map(() => 'x'), ...required]);
    }
  }
  return found;
}

test('a flag of yes or no with another value than true or false is refused by every verb, and nothing is done', async () => {
  const verbs = await listVerbs(
    [],
    VERBS.filter((verb) => verb !== 'help'),
  );
  const tried: string[] = [];
  for (const verb of verbs) {
    const words = verb.filter((word) => word !== 'x' && !word.startsWith('--'));
    const flags = [...(await help(words)).matchAll(/^ +--([\w-]+).*\[boolean\]/gm)].map(([, flag = '']) => flag);
    for (const flag of flags.filter((each) => each !== 'version')) {
      for (const value of ['ja', '1', 'True', '']) {
        const { code, stdout } = await runCommandInProcess([...verb, `--${flag}=${value}`], { cwd: tmpdir(), env: {} });
        const { error } = JSON.parse(stdout);
        expect([words, code, error.code, error.message]).toEqual([
          words,
          2,
          'bad-flag',
          `Cannot use --${flag}: it is given as "${value}", expected the flag alone`,
        ]);
      }
      tried.push(`${words.join(' ')} --${flag}`);
    }
  }
  for (const known of ['prune --dry-run', 'abandon --dry-run', 'run --wait', 'check --online', 'cluster drop --json'])
    expect(tried).toContain(known);
});

test.each(['--dry-run.x=ja', '--no-dry-run=ja', '--dryRun=ja'])('%s is refused as well', async (flag) => {
  const args = ['prune', 'x', '--older-than', '0h', flag];
  const { code, stdout } = await runCommandInProcess(args, { cwd: tmpdir(), env: {} });
  expect([code, JSON.parse(stdout).error.code]).toEqual([2, 'bad-flag']);
});
