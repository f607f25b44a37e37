import { expect, test } from 'vitest';
import { findMisuse } from '../../src/verbs/command-line.js';
import { VERBS } from '../../src/verbs/verbs.js';

test.each([
  [['run', 'a.yaml', '--dry-run'], 'volley plan <job> shows what would be sent'],
  [['run', '--dryRun', 'a.yaml'], 'volley plan <job> shows what would be sent'],
  [['clean'], 'There is no volley clean'],
  [['rnu', 'a.yaml'], 'There is no such verb. Did you mean run?'],
  [['xyzzyx'], /^There is no such verb\.$/],
  [['jobs/a.yaml'], 'A verb is missing before the path'],
])('%j is answered with what to do', (args, told) => {
  if (typeof told === 'string') expect(findMisuse(args)).toContain(told);
  else expect(findMisuse(args)).toMatch(told);
});

test.each([[[]], [['--help']], [['--version']], ...VERBS.map((verb) => [[verb]])])(
  '%j is left to the parser',
  (args) => {
    expect(findMisuse(args)).toBeUndefined();
  },
);
