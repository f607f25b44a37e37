import { expect, test } from 'vitest';
import { VERBS } from '../../src/verbs/command-line.js';
import { rewriteHelp } from '../../src/verbs/help.js';

test.each([
  ['help', 'help topics'],
  ['help --help', 'help topics --help'],
  ['help input', 'help input'],
  ['help run', 'run --help'],
  ['help verify start', 'verify start --help'],
  ['run job.yaml', 'run job.yaml'],
])('"%s" is parsed as "%s"', (typed, parsed) => {
  expect(rewriteHelp(typed.split(' '), VERBS).join(' ')).toBe(parsed);
});
