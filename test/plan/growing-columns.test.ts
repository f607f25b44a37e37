import { describe, expect, it } from 'vitest';
import type { ConversationsStep } from '../../src/job/job.js';
import { aContactsStep, aNumber, anInput, anSmsStep, aPlan, refusalOf, someLimits, statesOf } from './a-plan.js';

const input = anInput({ files: ['people.ndjson'] });
const ndjson = (...rows: object[]) => ({ 'people.ndjson': rows.map((row) => `${JSON.stringify(row)}\n`).join('') });
const conversations: ConversationsStep = {
  kind: 'conversations',
  input,
  channel: { id: 'c1' },
  user: { phone: 'mobile', name: 'name', additionalProperties: {} },
  limits: someLimits(),
};

describe('columns of an NDJSON file', () => {
  it('may come with a later row: until then their cells are missing', async () => {
    const steps = [anSmsStep({ input, text: "Hi {{ name | default: 'you' }}" })];
    const files = ndjson({ mobile: aNumber(0) }, { mobile: aNumber(1), name: 'Ann' });
    const { requests, rows, step } = await aPlan({ job: { steps }, files });
    expect(requests[0]?.json.messages).toMatchObject([{ text: 'Hi you' }, { text: 'Hi Ann' }]);
    expect(rows.map(({ cells }) => cells)).toEqual([
      [aNumber(0), undefined],
      [aNumber(1), 'Ann'],
    ]);
    expect(step.columns).toEqual(['mobile', 'name']);
  });

  it('are reported where their name matches only without case and punctuation', async () => {
    const steps = [anSmsStep({ input, destination: 'Mo-bile', text: "Hi {{ first_name | default: 'you' }}" })];
    const files = ndjson({ mobile: aNumber(0), id: 1 }, { 'First Name': 'Ann' });
    const { step } = await aPlan({ job: { steps }, files });
    expect(step.inputs[0]?.notices).toEqual([
      'its column "mobile" is taken for "Mo-bile"',
      'its column "First Name" is taken for "first_name"',
    ]);
  });

  it('may come thousands of rows later, in whatever place the key then has', async () => {
    const steps = [anSmsStep({ input, text: "Hi {{ name | default: 'you' }}" })];
    const many = Array.from({ length: 2500 }, (_, index) => ({ mobile: aNumber(index) }));
    const files = ndjson(...many, { town: 'Bedok', name: 'Ann', mobile: aNumber(5000) });
    const { requests, step } = await aPlan({ job: { steps }, files });
    expect(step.counts).toMatchObject({ read: 2501, planned: 2501 });
    expect(requests.at(-1)?.json.messages.at(-1)).toMatchObject({ text: 'Hi Ann' });
  });

  it('that a template needs and a row lacks reject that row alone', async () => {
    const steps = [anSmsStep({ input, text: 'Hi {{ name }}' })];
    const files = ndjson({ mobile: aNumber(0) }, { mobile: aNumber(1), name: 'Ann' });
    const { rows } = await aPlan({ job: { steps }, files });
    expect(statesOf(rows)).toEqual(['missing-value', 'planned']);
  });

  it.each([
    ['a short text', anSmsStep({ input, text: 'Hi {{ name }}' })],
    ['a text of several parts', anSmsStep({ input, text: `Hi {{ name }}${'a'.repeat(200)}` })],
    ['a text of a loop', anSmsStep({ input, text: '{% for i in (1..1) %}Hi {{ name }}{% endfor %}' })],
    ['a field of a contact', aContactsStep({ input, fields: { msisdn: 'mobile', firstName: 'name' } })],
    ["a customer's name", conversations],
  ])(
    'hold objects and lists, which no person is shown, nor is a row lost whose text only looks like one: %s',
    async (_what, step) => {
      const names = [{ first: 'Ann' }, ['Ann', 'Lee'], [1], {}, 'Ann', '[Ann]', '{Ann'];
      const files = ndjson(...names.map((name, row) => ({ mobile: aNumber(row), name })));
      const { rows } = await aPlan({ job: { steps: [step] }, files });
      const nested = Array(4).fill('nested-value');
      expect(statesOf(rows)).toEqual([...nested, 'planned', 'planned', 'planned']);
    },
  );

  it('that a condition asks about, or an attribute keeps, may hold lists', async () => {
    const text = '{% if tags contains "vip" %}Hi{% else %}Hello{% endif %} {{ name }}';
    const files = ndjson({ mobile: aNumber(0), tags: ['new', 'vip'], name: 'Ann' });
    const contacts = aContactsStep({ input, customAttributes: { tags: 'tags' } });
    const { requests } = await aPlan({ job: { steps: [anSmsStep({ input, text })] }, files });
    const { requests: kept } = await aPlan({ job: { steps: [contacts] }, files });
    expect(requests[0]?.json.messages).toMatchObject([{ text: 'Hi Ann' }]);
    expect(kept[0]?.json).toMatchObject({ customAttributes: { tags: '["new","vip"]' } });
  });

  it('may include the destination itself', async () => {
    const steps = [anSmsStep({ input })];
    const { rows } = await aPlan({ job: { steps }, files: ndjson({ id: 1 }, { id: 2, mobile: aNumber(1) }) });
    expect(statesOf(rows)).toEqual(['empty', 'planned']);
  });

  it('that never come are refused at the end, with the columns there are', async () => {
    const steps = [anSmsStep({ input, text: 'Hi {{ nick }}', destination: 'handy' })];
    const { problems } = await refusalOf({ job: { steps }, files: ndjson({ mobile: aNumber(0) }, { name: 'Ann' }) });
    expect(problems).toEqual([
      "people.ndjson: destination: no column matches 'handy'; columns: mobile, name",
      expect.stringMatching(
        /^people\.ndjson: Cannot fill \{\{ nick \}\}.*: no column matches 'nick'; columns: mobile, name \(in people\.ndjson\)$/,
      ),
    ]);
  });

  it('that no field of a contact names become attributes of the rows that have them', async () => {
    const steps = [aContactsStep({ input, customAttributes: { rest: { except: [], rename: {} } } })];
    const files = ndjson({ mobile: aNumber(0) }, { mobile: aNumber(1), tier: 'gold' });
    const { requests } = await aPlan({ job: { steps }, files });
    expect(requests.map(({ json }) => json)).toEqual([
      { addresses: { msisdn: aNumber(0) } },
      { addresses: { msisdn: aNumber(1) }, customAttributes: { tier: 'gold' } },
    ]);
  });
});
