import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadServiceOf } from '../../src/commands/open-service.js';
import { aCaller, aService, CREDENTIALS } from './a-single-call.js';

const SMS_STEP = { kind: 'sms', input: { files: 'a.csv' }, destination: 'mobile', template: { text: 'Hi' } };
const SOMEWHERE = aService('http://127.0.0.1:9');

/** Reads a job that is written line by line, so that every key has a place of its own. */
function aJobFile(written: Record<string, unknown> | string) {
  const { flags, directory } = aCaller({});
  const text = typeof written === 'string' ? written : JSON.stringify(written, undefined, 1);
  writeFileSync(flags.job, text);
  return { file: flags.job, directory, load: () => loadServiceOf(flags.job) };
}

describe('the job of a single call', () => {
  test.each<[string, Record<string, unknown>]>([
    ['no steps', {}],
    ['an empty list of steps', { steps: [] }],
    ['steps that no run would take', { steps: [{ kind: 'smss' }, { kind: 'chat', text: '{{ nothing }}' }] }],
    ['only steps without rows', { steps: [{ kind: 'campaign', campaign: 101, set: 'PAUSED' }] }],
    ['steps', { steps: [SMS_STEP] }],
  ])('may have %s, of which nothing is left', async (_, written) => {
    const { load, directory } = aJobFile({ service: SOMEWHERE, ...written, output: 'runs' });
    const { name, service, output, steps } = await load();
    expect({ name, directory: output.directory, steps }).toEqual({
      name: 'calls',
      directory: join(directory, 'runs'),
      steps: [],
    });
    expect(service.bases.chat).toBe('http://127.0.0.1:9');
  });

  test('need not say how the areas of its steps are reached, nor whose account it is', async () => {
    const { load } = aJobFile({ service: { credentials: { chat: CREDENTIALS.chat } }, steps: [SMS_STEP] });
    expect((await load()).service).toMatchObject({
      account: '',
      credentials: { chat: { apiKey: { env: 'CHAT_KEY' } } },
    });
  });

  test('has the account that its file gives, sandbox or not', async () => {
    const { load } = aJobFile({ service: { account: 'umbrella' } });
    expect((await load()).service).toMatchObject({ account: 'umbrella', sandbox: false });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['key of the service', { service: { regoin: 'asia' } }, '"regoin" is not a key of service'],
    ['account', { service: { account: 'a'.repeat(50) } }, 'service.account with _hq is no subaccount'],
    ['name', { name: 'Spring Sale' }, 'name is no name of a directory'],
    ['output', { output: 5 }, 'output is 5'],
    ['guard', { guards: { maxMessages: -1 } }, 'guards.maxMessages is -1'],
    ['reference', { service: { sandbox: true, account: `\${ACME}` } }, 'service.account holds $'],
    ['key', { stepz: [] }, '"stepz" is not a key'],
    ['step, if something else is at fault', { steps: [{ kind: 'smss' }], repeat: 'daily' }, 'repeat is "daily"'],
  ])('is refused for a bad %s, with its place, and without a word on the steps', async (_, written, problem) => {
    const { load, file } = aJobFile({ service: SOMEWHERE, ...written });
    const error = await load().catch((thrown) => thrown);
    expect(error).toMatchObject({ name: 'UserError', code: 'bad-job', message: expect.stringContaining(problem) });
    expect(error.problems).toEqual([
      expect.objectContaining({
        message: expect.stringContaining(problem),
        where: expect.stringContaining(`${file}:`),
      }),
    ]);
  });

  test('is refused with all its problems, and names the first', async () => {
    const { load } = aJobFile({ service: SOMEWHERE, output: 5, repeat: 'daily' });
    const error = await load().catch((thrown) => thrown);
    expect(error.problems).toHaveLength(2);
    expect(error.message).toMatch(/output is 5.* \(and 1 more\)$/);
  });

  test.each(['service: {', 'just text', '', '- service'])('is refused where it is no job at all: %j', async (text) => {
    await expect(aJobFile(text).load()).rejects.toMatchObject({ name: 'UserError', code: 'bad-job' });
  });

  test('is refused where there is no such file', async () => {
    const { file } = aJobFile('');
    await expect(loadServiceOf(`${file}.not`)).rejects.toMatchObject({ code: 'bad-job', problems: [] });
  });
});
