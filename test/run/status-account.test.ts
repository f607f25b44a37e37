import { expect, test } from 'vitest';
import { runVerb } from '../../src/command/runner.js';
import { status } from '../../src/verbs/status.js';
import { aTerminal } from '../command/a-terminal.js';
import { aCommandLine } from './a-command-line.js';

const ROWS = 'mobile,name\n+6590000001,a\n+6590000001,b\nnope,c\nn/a,d\n+6590000002,e\n';

async function ask(run: string, json: boolean) {
  const { terminal, said } = aTerminal();
  expect(await runVerb('status', status, { run, json }, terminal)).toBe(0);
  return said.stdout;
}

test('status counts all rows that were read, also those refused and skipped while planning', async () => {
  const line = await aCommandLine();
  line.write('people.csv', ROWS);
  const { told } = await line.run();
  const text = await ask(told.directory, false);
  expect(text).toContain(
    '  step   read  accepted  rejected  skipped  in doubt  not sent\n' +
      '  1 sms     5         2         2        1         –         –\n',
  );
  expect(text).toContain('Next: correct the rows in');
  const { steps } = JSON.parse(await ask(told.directory, true));
  const balance = { read: 5, accepted: 2, rejected: 2, skipped: 1, inDoubt: 0, unprocessed: 0 };
  expect(steps).toMatchObject([{ planned: 2, balance }]);
});

test('status of a plan that was not sent says how to send it', async () => {
  const line = await aCommandLine();
  line.write('people.csv', ROWS);
  const { told } = await line.plan();
  const text = await ask(told.directory, false);
  expect(text).toMatch(/ 1 sms +5 +– +2 +1 +– +2\n/);
  expect(text).toContain(`Next: send it\n  volley apply ${told.directory}\n`);
});
