import { describe, expect, test } from 'vitest';
import { parseJob } from '../../src/job/load.js';
import { ALL_CREDENTIALS, anSmsStep, aService, refusalOf } from './a-job-file.js';

const FILE = '/jobs/calls.yaml';

/** Line by line, so that every key has a place of its own. */
const textOf = (written: Record<string, unknown>) => JSON.stringify(written, undefined, 1);
const load = (written: Record<string, unknown>) => parseJob(textOf(written), FILE, { withoutSteps: true });
const refusal = (text: string) => refusalOf(text, FILE, { withoutSteps: true });

describe('a job that is loaded without its steps', () => {
  test.each<[string, Record<string, unknown>]>([
    ['no steps', {}],
    ['an empty list of steps', { steps: [] }],
    ['steps that no run would take', { steps: [{ kind: 'smss' }, { kind: 'chat', text: '{{ nothing }}' }] }],
    ['only steps without rows', { steps: [{ kind: 'campaign', campaign: 101, set: 'PAUSED' }] }],
    ['steps that are no list', { steps: 'later' }],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as people write it into jobs
    ['variables in its steps', { steps: [{ kind: 'sms', input: { files: '${INBOX}/*.csv' } }] }],
    ['steps', { steps: [anSmsStep()] }],
  ])('may have %s, of which nothing is left', (_, written) => {
    const { name, service, output, steps } = load({ service: aService(), ...written, output: 'runs' });
    const expected = { name: 'calls', account: 'acme', directory: '/jobs/runs', steps: [] };
    expect({ name, account: service.account, directory: output.directory, steps }).toEqual(expected);
  });

  test('need not say how the areas of its steps are reached, nor whose account it is', () => {
    const { chat } = ALL_CREDENTIALS;
    const { service } = load({ service: { credentials: { chat } }, steps: [anSmsStep()] });
    expect(service).toMatchObject({ account: '', credentials: { chat: { apiKey: { env: 'CHAT_KEY' } } } });
  });

  test('has the account that its file gives, sandbox or not', () => {
    expect(load({ service: { account: 'umbrella' } }).service).toMatchObject({ account: 'umbrella', sandbox: false });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['key of the service', { service: { regoin: 'asia' } }, '"regoin" is not a key of service'],
    ['account', { service: { account: 'a'.repeat(50) } }, 'service.account with _hq is not a subaccount'],
    ['name', { name: 'Spring Sale' }, 'name is "Spring Sale"'],
    ['output', { output: 5 }, 'output is 5'],
    ['guard', { guards: { maxMessages: -1 } }, 'guards.maxMessages is -1'],
    ['reference', { service: { sandbox: true, account: `\${ACME}` } }, 'service.account contains $'],
    ['key', { stepz: [] }, '"stepz" is not a key'],
    ['step, if something else is at fault', { steps: [{ kind: 'smss' }], repeat: 'daily' }, 'repeat is "daily"'],
  ])('is refused for a bad %s, with its place, and nothing is said of the steps', (_, written, problem) => {
    const job = { service: aService(), ...written };
    const whole = refusalOf(textOf(job), FILE);
    const { code, message, hint, problems } = refusal(textOf(job));
    expect(problems).toEqual(whole.problems.filter((found) => found.message.includes(problem)));
    expect(problems).toHaveLength(1);
    expect({ code, message, hint }).toEqual({
      code: 'bad-job',
      message: `Cannot use the job ${FILE}: ${problems[0]?.message} (${problems[0]?.where})`,
      hint: 'Nothing was read or sent. Fix the job file and try again.',
    });
  });

  test.each(['service: {', 'just text', '', '- service'])(
    'is refused as any other where it is no job at all: %j',
    (text) => {
      expect(refusal(text)).toEqual(refusalOf(text, FILE));
    },
  );
});
