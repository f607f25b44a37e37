import { describe, expect, it } from 'vitest';
import type { ConversationsStep } from '../../../src/job/job.js';
import { conversationsKind } from '../../../src/kinds/conversations/conversations.js';
import type { CallService } from '../../../src/service/endpoint.js';
import { anInput, aService, someLimits } from '../../plan/a-plan.js';
import { aPart, aResponse, told } from '../a-part.js';
import { bodyOf, planRows } from '../a-row.js';

const NEW_CHANNEL = { name: 'Hand-off', description: 'd', queue: '7', webhook: { name: 'w', url: 'https://x.test/' } };

function conversations(changes: Partial<ConversationsStep> = {}): ConversationsStep {
  return {
    kind: 'conversations',
    input: anInput(),
    channel: { id: 'c1' },
    queue: '5',
    queueColumn: 'queue',
    user: 'user',
    history: 'history',
    limits: someLimits(),
    ...changes,
  };
}

const plan = (step: Partial<ConversationsStep>, row: Record<string, string>) =>
  bodyOf(planRows(conversations(step), Object.keys(row), Object.values(row))[0]);
const ROW = { user: '{"name":"Ann"}', history: '{"messages":[{"authorType":"user","text":"Hi"}]}', queue: '' };

describe('conversation of a row', () => {
  it('has channel, queue, user and history as the contract has them', () => {
    expect(plan({}, ROW)).toEqual({
      channelId: 'c1',
      assignment: { type: 'queue', id: '5' },
      user: { name: 'Ann' },
      history: { messages: [{ authorType: 'user', text: 'Hi' }] },
    });
  });

  it.each([{ id: 'c1' }, NEW_CHANNEL])(
    'goes to the queue of the row, else of the step, else names none: the channel has one of its own (%j)',
    (channel) => {
      expect(plan({ channel }, { ...ROW, queue: ' 9 ' })).toMatchObject({ assignment: { id: '9' } });
      const { assignment, ...without } = plan({ channel }, ROW) as Record<string, unknown>;
      expect(assignment).toEqual({ type: 'queue', id: '5' });
      expect(plan({ channel, queue: undefined }, ROW)).toEqual(without);
      expect(plan({ channel, queue: undefined, queueColumn: undefined }, ROW)).toEqual(without);
    },
  );

  it('is shown with its queue, and told without one where no one but the service knows it', () => {
    const shown = (step: Partial<ConversationsStep>) => {
      const [row] = planRows(conversations(step), Object.keys(ROW), Object.values(ROW));
      return row?.kind === 'planned' ? [row.preview.to, ...row.facts] : row;
    };
    expect(shown({})).toEqual(['queue 5', '5']);
    expect(shown({ queue: undefined, channel: NEW_CHANNEL })).toEqual(['queue 7', '7']);
    expect(shown({ queue: undefined })).toEqual(["the channel's own queue", '']);
  });

  it('has no history where the cell is blank', () => {
    expect(plan({}, { ...ROW, history: ' ' })).not.toHaveProperty('history');
  });

  it('takes a history that is a bare list of messages, with attachments and cards as they are', () => {
    const messages = [{ authorType: 'bot', attachments: [{ any: 1 }] }];
    expect(plan({}, { ...ROW, history: JSON.stringify(messages) })).toMatchObject({ history: { messages } });
  });

  it('takes the user from columns, and omits what is blank', () => {
    const user = { name: 'n', email: 'e', additionalProperties: { tier: 't', town: 'o' } };
    const row = { n: 'Ann', e: ' ', t: 'gold', o: '', history: '', queue: '' };
    expect(plan({ user }, row)).toMatchObject({
      user: { name: 'Ann', additionalProperties: [{ key: 'tier', value: 'gold' }] },
    });
    expect(plan({ user }, { ...row, n: '', t: '' })).toEqual(['', 'missing-value', expect.any(String)]);
  });

  it.each([
    ['', 'The user is missing'],
    ['{}', 'user is empty'],
    ['[]', 'user is not a JSON object'],
    ['{"name":', 'user is not a JSON object'],
    ['{"age":1}', 'user has a field "age"'],
    ['{"name":1}', 'user.name is not text, expected text in quotes'],
    ['{"name":" ","phone":null}', 'user is empty'],
    ['{"additionalProperties":{}}', 'user.additionalProperties is not a list'],
    ['{"additionalProperties":[{"key":"a"}]}', 'user.additionalProperties[0] needs both'],
    ['{"additionalProperties":[{"key":"a","value":""}]}', 'user.additionalProperties[0] needs both'],
    [
      JSON.stringify({ additionalProperties: Array(31).fill({ key: 'a', value: 'b' }) }),
      '31 entries, expected at most 30',
    ],
  ])('is rejected for a user like %s', (user, reason) => {
    expect(plan({}, { ...ROW, user })).toEqual(['user', 'bad-object', expect.stringContaining(reason)]);
  });

  it.each([
    ['{}', 'history has no list of messages'],
    ['[{"authorType":"user","text":"Hi"}],"more":1', 'history is not a JSON object'],
    ['{"messages":[1]}', 'history.messages[0] is not an object'],
    ['{"messages":[{"authorType":"agent","text":"x"}]}', 'history.messages[0] has an authorType other'],
    ['{"messages":[{"authorType":"user"}]}', 'history.messages[0] has no text'],
    ['{"messages":[{"authorType":"user","text":""}]}', 'history.messages[0] has no text'],
    ['{"messages":[{"authorType":"user","attachments":[],"cards":null}]}', 'history.messages[0] has no text'],
    [
      JSON.stringify({ messages: Array(201).fill({ authorType: 'user', text: 'x' }) }),
      '201 messages, expected at most 200',
    ],
  ])('is rejected for a history like %s', (history, reason) => {
    expect(plan({}, { ...ROW, history })).toEqual(['history', 'bad-object', expect.stringContaining(reason)]);
  });

  it.each([
    { fault: 'mine' },
    { stage: 'normalize', field: 'f', code: 'c', reason: 'mine' },
    { ok: false, fault: 'mine', rejection: { stage: 'service', reason: 'mine' } },
  ])('takes nothing that stands in its history for a rejection (%j)', (forged) => {
    const messages = [{ authorType: 'user', text: 'Hi' }];
    const history = JSON.stringify({ ...forged, messages });
    expect(plan({}, { ...ROW, history })).toMatchObject({ user: { name: 'Ann' }, history: { ...forged, messages } });
  });

  it('takes nothing that stands in its history or user for the reason of a rejection', () => {
    const forged = '{"fault":"mine"}';
    expect(plan({}, { ...ROW, history: forged })).toEqual(['history', 'bad-object', expect.stringMatching(/^history/)]);
    expect(plan({}, { ...ROW, user: forged })).toEqual(['user', 'bad-object', expect.stringMatching(/^user has/)]);
  });

  it('says nothing of the row in what it is rejected for', () => {
    expect(JSON.stringify(plan({}, { ...ROW, user: '{"name":"Ann Secret"' }))).not.toContain('Secret');
  });
});

/** The same user as an object and in columns of its own, beside a column that says the country. */
describe.each<
  [string, (user: Record<string, string>, step?: Partial<ConversationsStep>) => unknown, (field: string) => string]
>([
  [
    'as an object',
    ({ land = '', ...user }, step) =>
      plan({ history: undefined, queueColumn: undefined, ...step }, { user: JSON.stringify(user), land }),
    (field) => `user.${field}`,
  ],
  [
    'in columns',
    (user, step) => {
      const columns = { name: 'Name', phone: 'Mobile', email: 'Mail', language: 'Lang', additionalProperties: {} };
      const { name = '', phone = '', email = '', language = '', land = '' } = user;
      const row = { Name: name, Mobile: phone, Mail: email, Lang: language, land };
      return plan({ history: undefined, queueColumn: undefined, user: columns, ...step }, row);
    },
    (field) => ({ phone: 'Mobile', email: 'Mail', language: 'Lang' })[field] ?? field,
  ],
])('user of a conversation %s', (_name, planUser, placeOf) => {
  const inCountry = { input: anInput({ country: 'SG', countryColumn: 'land' }) };

  it('has its number as contacts have theirs: in the country of the row, else of the step', () => {
    const phoneOf = (phone: string, land: string) => planUser({ name: 'Ann', phone, land }, inCountry);
    expect(phoneOf(' 9123 4567', '')).toMatchObject({ user: { name: 'Ann', phone: '+6591234567' } });
    expect(phoneOf('020 7946 0018', 'United Kingdom')).toMatchObject({ user: { phone: '+442079460018' } });
    expect(phoneOf('+65 9123-4567', 'GB')).toMatchObject({ user: { phone: '+6591234567' } });
    expect(planUser({ phone: '+65 9123 4567' })).toMatchObject({ user: { phone: '+6591234567' } });
  });

  it('has its language as the contact center writes it', () => {
    expect(planUser({ language: ' EN' })).toMatchObject({ user: { language: 'en' } });
    expect(planUser({ language: 'zh_tw' })).toMatchObject({ user: { language: 'zh-TW' } });
    expect(planUser({ language: 'ID' }, { languages: ['id'] })).toMatchObject({ user: { language: 'id' } });
  });

  it('lacks what is blank', () => {
    expect(planUser({ name: ' Ann ', phone: ' ', email: '', language: ' ' })).toMatchObject({ user: { name: 'Ann' } });
    expect(planUser({ name: 'Ann', phone: '', email: '', language: '' })).not.toHaveProperty('user.phone');
  });

  it.each([
    ['phone', '91234', 'too-short'],
    ['phone', '6.59123E+09', 'spreadsheet-number'],
    ['phone', 'n/a', 'placeholder'],
    ['email', 'ann@example', 'bad-email'],
    ['email', 'Ann <ann@example.com>', 'bad-email'],
    ['email', `${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d.'.repeat(80)}com`, 'field-too-long'],
    ['email', 'a\u0000nn@example.com', 'control-character'],
    ['language', 'English', 'bad-language'],
    ['language', 'zh', 'bad-language'],
    ['language', 'id', 'bad-language'],
  ])('is rejected for its %s %j, with field and code', (field, text, code) => {
    expect(planUser({ name: 'Ann', [field]: text }, inCountry)).toEqual([placeOf(field), code, expect.any(String)]);
  });

  it('is rejected for a number without + where nothing says the country, and for a country that there is not', () => {
    const expected = [placeOf('phone'), 'no-country', expect.any(String)];
    expect(planUser({ phone: '91234567' }, { input: anInput({ country: undefined }) })).toEqual(expected);
    expect(planUser({ phone: '91234567', land: 'Atlantis' }, inCountry)).toEqual([
      'land',
      'bad-country',
      expect.any(String),
    ]);
  });

  it('says nothing of number and address in what it is rejected for', () => {
    expect(JSON.stringify(planUser({ email: 'ann.secret@example' }))).not.toContain('secret');
  });
});

it('a file without the column of the country is refused, as for contacts', () => {
  const step = { input: anInput({ countryColumn: 'land' }) };
  expect(() => plan(step, ROW)).toThrow("input.countryColumn: no column matches 'land'");
});

it('the country of the number is counted with the plan', () => {
  const row = { user: '{"phone":"+442079460018"}', history: '', queue: '' };
  const [planned] = planRows(conversations(), Object.keys(row), Object.values(row));
  expect(planned).toMatchObject({ kind: 'planned', country: 'GB' });
});

describe('channel of the conversations', () => {
  it('is made with its webhook where the step names it by its settings', async () => {
    const { provisioning } = conversationsKind;
    const calls: unknown[] = [];
    const call: CallService = async (endpoint, input) => {
      calls.push([endpoint.name, input]);
      return { webhookId: 'w1', channelId: 'c9' } as never;
    };
    const step = conversations({ channel: NEW_CHANNEL });

    expect(provisioning?.isNeeded(conversations())).toBe(false);
    expect(provisioning?.isNeeded(step)).toBe(true);
    const made: string[] = [];
    for (const make of provisioning?.makers ?? []) made.push(await make(step, call, made));
    expect(made).toEqual(['w1', 'c9']);
    expect(calls).toEqual([
      ['create a webhook', NEW_CHANNEL.webhook],
      ['create a channel', { name: 'Hand-off', description: 'd', webhookId: 'w1', queue: '7' }],
    ]);
  });

  it('is put into the body that was planned without it, and is otherwise left alone', () => {
    const body = Buffer.from('{"user":{"name":"Ann"}}');
    const sent = conversationsKind.call(aService(), body, ['w1', 'c"9']).body?.toString();
    expect(JSON.parse(sent ?? '')).toEqual({ channelId: 'c"9', user: { name: 'Ann' } });
    expect(conversationsKind.call(aService(), body, []).body).toEqual(body);
  });
});

describe('answer to a conversation', () => {
  const read = (answer: unknown) =>
    told(conversationsKind.readOutcomes(aResponse(answer, { status: 202 }), aPart({ count: 1 }), Buffer.from('{}')));

  it('with its id is accepted', () => {
    expect(read({ conversationId: 'v1', createdAt: '2026-11-21T12:00:00Z' })).toEqual([
      ['accepted CREATED', 'v1', '2026-11-21T12:00:00Z'],
    ]);
  });

  it('that was lost is not asked for again: a second conversation would begin', () => {
    expect(conversationsKind.isRepeatable(conversations())).toBe(false);
  });

  it.each(['', '{}', 'null', '<html>'])('that names none (%j) is in doubt', (answer) => {
    expect(read(answer)).toEqual([['in-doubt unreadable-answer']]);
  });

  it('that names the conversation of another row of the same run is in doubt', () => {
    const [run, other] = [conversationsKind.forRun?.(), conversationsKind.forRun?.()];
    const ask = (of: typeof run, conversationId: string) => {
      const answer = aResponse({ conversationId }, { status: 202 });
      return of && told(of.readOutcomes(answer, aPart({ count: 1 }), Buffer.from('{}')))[0]?.slice(0, 2);
    };
    expect(ask(run, 'v1')).toEqual(['accepted CREATED', 'v1']);
    expect(ask(run, 'v2')).toEqual(['accepted CREATED', 'v2']);
    expect(ask(run, 'v1')).toEqual(['in-doubt foreign-answer']);
    expect(ask(other, 'v1')).toEqual(['accepted CREATED', 'v1']);
  });
});
