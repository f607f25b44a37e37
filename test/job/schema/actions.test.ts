import { describe, expect, test } from 'vitest';
import { CHAT_FIGURES } from '../../../src/job/chat-figures.js';
import { parseJob } from '../../../src/job/load.js';
import { aCampaignStep, aChatStep, aJobFile, anSmsStep, fillOne, hintsOf, messagesOf } from '../a-job-file.js';

const inJob = (...steps: object[]) => aJobFile({ service: { sandbox: true }, steps: [...steps, anSmsStep()] });
const ONE_BY_ONE = {
  requestsPerSecond: 1,
  messagesPerSecond: undefined,
  segmentsPerSecond: undefined,
  concurrency: 1,
};

describe('a campaign step', () => {
  test('has every default filled', () => {
    expect(fillOne('campaign', aCampaignStep())).toEqual({
      kind: 'campaign',
      campaign: 101,
      set: 'PAUSED',
      expect: undefined,
      always: false,
      limits: ONE_BY_ONE,
    });
  });

  test('expects one status or a list of them', () => {
    const expected = (written: unknown) => fillOne('campaign', aCampaignStep({ expect: written })).expect;
    expect(expected('RUNNING')).toEqual(['RUNNING']);
    const all = ['NEW', 'SCHEDULED', 'RUNNING', 'PAUSED', 'PURGED', 'STOPPED'];
    expect(expected(all)).toEqual(all);
  });

  test('may only expect, and may run always', () => {
    const step = fillOne('campaign', aCampaignStep({ set: undefined, expect: 'PAUSED', always: true }));
    expect(step).toMatchObject({ expect: ['PAUSED'], always: true });
    expect(step.set).toBeUndefined();
  });

  test.each(['RUNNING', 'PAUSED', 'PURGED', 'STOPPED'])('sets %s', (set) => {
    expect(fillOne('campaign', aCampaignStep({ set })).set).toBe(set);
  });

  const STATES = 'NEW, SCHEDULED, RUNNING, PAUSED, PURGED, STOPPED';
  test.each<[changes: Record<string, unknown>, message: string]>([
    [{ campaign: undefined }, 'steps[0].campaign is missing, expected a number'],
    [{ campaign: 0 }, 'steps[0].campaign is 0, expected at least 1'],
    [{ campaign: 1.5 }, 'steps[0].campaign is 1.5, expected a whole number'],
    [{ campaign: '101' }, 'steps[0].campaign is "101", expected a number'],
    [{ set: 'NEW' }, 'steps[0].set is "NEW", expected one of RUNNING, PAUSED, PURGED, STOPPED'],
    [{ set: undefined }, 'steps[0] neither sets nor expects a status, expected set or expect'],
    [{ expect: 'DONE' }, `steps[0].expect is "DONE", expected one of ${STATES}, or a list of them`],
    [{ expect: 3 }, `steps[0].expect is 3, expected one of ${STATES}, or a list of them`],
    [{ expect: [] }, 'steps[0].expect is an empty list, expected at least 1 entry'],
    [{ expect: ['NEW', 'DONE'] }, `steps[0].expect[1] is "DONE", expected one of ${STATES}`],
    [{ expect: ['NEW', 'NEW'] }, 'steps[0].expect is a list, expected every status once'],
    [{ always: 'yes' }, 'steps[0].always is "yes", expected true or false'],
    [{ limits: { requestsPerSecond: 101 } }, 'steps[0].limits.requestsPerSecond is 101, expected at most 100'],
    [
      { limits: { concurrency: 1 } },
      '"concurrency" is not a key of steps[0].limits, expected one of requestsPerSecond',
    ],
  ])('%#: %o is refused', (changes, message) => {
    expect(messagesOf(inJob(aCampaignStep(changes)))).toEqual([message]);
  });

  test('names the status that was meant', () => {
    expect(hintsOf(inJob(aCampaignStep({ set: 'PASUED', expect: 'RUNING' })))).toEqual([
      'Did you mean PAUSED?',
      'Did you mean RUNNING?',
    ]);
  });
});

describe('a chat step', () => {
  test('has every default filled', () => {
    expect(fillOne('chat', aChatStep())).toEqual({
      kind: 'chat',
      text: '{{ job }}: {{ accepted }} of {{ read }}',
      room: undefined,
      when: 'always',
      limits: ONE_BY_ONE,
    });
  });

  test('keeps every key that is written', () => {
    const written = { text: 'Done.', room: 'Operations', when: 'failure', limits: { requestsPerSecond: 5 } };
    expect(fillOne('chat', aChatStep(written))).toMatchObject(written);
  });

  test('may name every figure of the run', () => {
    const text = CHAT_FIGURES.map((figure) => `{{ ${figure} }}`).join(' ');
    expect(fillOne('chat', aChatStep({ text })).text).toBe(text);
  });

  test.each<[changes: Record<string, unknown>, message: string]>([
    [{ text: undefined }, 'steps[0].text is missing, expected text'],
    [{ text: '' }, 'steps[0].text is empty, expected some text'],
    [{ room: '' }, 'steps[0].room is empty, expected some text'],
    [{ when: 'never' }, 'steps[0].when is "never", expected one of always, failure, success'],
    [{ limits: { requestsPerSecond: 6 } }, 'steps[0].limits.requestsPerSecond is 6, expected at most 5'],
    [
      { text: '{{ first_name }} {% if jobs == "a" %}{{ read }}{% endif %}' },
      `steps[0].text names "first_name", "jobs", expected counts of the run: ${CHAT_FIGURES.join(', ')}`,
    ],
    [
      { text: 'a\n{{ read | ucase }}' },
      'steps[0].text cannot be posted: Cannot read the template at line 2, column 1: there is no filter "ucase", expected one of Liquid\'s',
    ],
  ])('%#: %o is refused', (changes, message) => {
    expect(messagesOf(inJob(aChatStep(changes)))).toEqual([message]);
  });

  test('names the figure that was meant, or says that it has no columns', () => {
    expect(hintsOf(inJob(aChatStep({ text: '{{ acepted }}' })))).toEqual(['Did you mean accepted?']);
    expect(hintsOf(inJob(aChatStep({ text: '{{ first_name }}' })))).toEqual([
      'A chat message is posted once and cannot use columns.',
    ]);
  });
});

describe('steps without rows', () => {
  test('are no job by themselves', () => {
    const text = aJobFile({ service: { sandbox: true }, steps: [aCampaignStep(), aChatStep()] });
    expect(messagesOf(text)).toEqual([
      'steps has no step with rows, expected at least one of kind contacts, sms, verification.start, verification.check, conversations',
    ]);
    expect(hintsOf(text)).toEqual(['For a single call use volley campaign set or volley chat post.']);
  });

  test('beside a step of an unknown kind are not said to be all there is', () => {
    const text = aJobFile({ service: { sandbox: true }, steps: [aCampaignStep(), { kind: 'sns' }] });
    expect(messagesOf(text)).toEqual([
      expect.stringContaining('steps[1].kind is "sns", expected one of contacts, sms'),
    ]);
    expect(hintsOf(text)).toEqual(['Did you mean sms?']);
  });

  test('may stand before and after those with rows', () => {
    const steps = [aCampaignStep(), anSmsStep(), aCampaignStep({ set: 'RUNNING', always: true }), aChatStep()];
    const job = parseJob(aJobFile({ service: { sandbox: true }, steps }), 'sale.yaml');
    expect(job.steps.map(({ kind }) => kind)).toEqual(['campaign', 'sms', 'campaign', 'chat']);
  });

  test('neither take the limits at the top nor lower what they may be', () => {
    const steps = [aCampaignStep(), anSmsStep(), aChatStep()];
    const limits = { requestsPerSecond: 1800, concurrency: 100 };
    const job = parseJob(aJobFile({ service: { sandbox: true }, steps, limits }), 'sale.yaml');
    expect(job.steps.map((step) => step.limits.requestsPerSecond)).toEqual([1, 1800, 1]);
    expect(job.steps.map((step) => step.limits.concurrency)).toEqual([1, 100, 1]);
  });
});
