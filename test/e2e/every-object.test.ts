import { expect, test } from 'vitest';
import { VERBS } from '../../src/verbs/verbs.js';
import { anSmsStep, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';

const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();
const NUMBER = '+6598000001';

/** They print a text, as it is. */
const WITHOUT = ['help', 'schema'];

test('every verb prints one JSON object with `state`, `exitCode` (the one that it ends with) and `error`', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(30));
  workspace.write('more.csv', people(2, 50));
  const template = { source: 'ACME', text: 'Hi {{ name }}', scheduled: TOMORROW };
  const job = { name: 'sale', service: { sandbox: true, account: 'acme' }, output: 'out' };
  workspace.writeJob({ ...job, steps: [anSmsStep({ template })] });
  const wider = anSmsStep({ input: { files: ['people.csv', 'more.csv'] }, template });
  workspace.writeJob({ ...job, steps: [wider] }, 'wider.yaml');
  const seen = new Set<string>();
  const see = async (...args: string[]) => {
    const { code, stdout, stderr } = await workspace.volley(...args);
    expect(stdout, `${args.join(' ')}: ${stderr}`).toMatch(/^\{.*\}\n$/);
    const object = JSON.parse(stdout);
    const { state, exitCode, error } = object;
    expect({ state, exitCode }, args.join(' ')).toEqual({ state: expect.any(String), exitCode: code });
    if (exitCode === 0) expect(error, args.join(' ')).toBeNull();
    else if (![1, 3].includes(exitCode)) expect(error, args.join(' ')).toMatchObject({ code: expect.any(String) });
    else expect(object, args.join(' ')).toHaveProperty('error');
    seen.add(args[0] ?? '');
    return object;
  };

  await see('init', 'people.csv');
  await see('check', 'job.yaml');
  await see('preview', 'job.yaml');
  await see('test', 'job.yaml', '--to', NUMBER);
  await see('plan', 'job.yaml');
  const { directory } = await see('run', 'job.yaml');
  await see('status', directory);
  await see('runs', 'job.yaml');
  await see('report', directory);
  await see('proof', directory);
  await see('people', 'show', 'job.yaml', NUMBER);
  await see('settle', directory, '--assume', 'sent', '--confirm', '0');
  await see('cancel', directory);
  const retry = await see('retry', directory, '--only', 'not-sent');
  await see('abandon', retry.directory);
  const { directory: planned } = await see('plan', 'wider.yaml');
  await see('approve', planned, '--confirm', 'none');
  await see('apply', planned);
  await see('prune', 'job.yaml', '--older-than', '90d');

  const single = ['--job', 'job.yaml'];
  const { sessionId } = await see('verify', 'start', NUMBER, ...single);
  await see('verify', 'check', sessionId, '0000', ...single);
  await see('verify', 'check', 'no-such-session', ...single);
  await see('campaign', 'status', '1', ...single);
  await see('campaign', 'set', '1', 'running', ...single);
  await see('chat', 'post', 'Hello', ...single);
  await see('chat', 'read', ...single);
  const { webhookId } = await see('gateway', 'webhook', 'Events', 'https://hooks.example/volley', ...single);
  await see('gateway', 'channel', 'Hand-off', '--webhook', webhookId, '--queue', '100', ...single);
  await see('gateway', 'send', 'no-such-conversation', 'Hello', ...single);

  // These go on until a signal, or need a database.
  await see('listen', '--port', '99999');
  await see('console', '--port', '99999');
  await see('sandbox', '--port', '99999');
  await see('work', 'job.yaml');
  await see('cluster', 'status', '--database-env', 'NONE');

  expect([...seen, ...WITHOUT].sort()).toEqual([...VERBS].sort());
});
