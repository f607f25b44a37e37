import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientBatchIdOf } from '../../src/kinds/ids.js';
import { aContactsStep, aCsvOf, aNumber, anInput, anSmsStep, aPlan, aTemplate, someLimits } from './a-plan.js';

const sizesOf = async (count: number, step: Parameters<typeof anSmsStep>[0]) => {
  const { requests } = await aPlan({ job: { steps: [anSmsStep(step)] }, files: { 'people.csv': aCsvOf(count) } });
  return requests.map(({ rows }) => rows);
};

describe('requests of an sms step', () => {
  it('hold as many messages as the job says, the last one what is left', async () => {
    expect(await sizesOf(7, { batchSize: 3 })).toEqual([3, 3, 1]);
    expect(await sizesOf(6, { batchSize: 3 })).toEqual([3, 3]);
    expect(await sizesOf(2, { batchSize: 10_000 })).toEqual([2]);
  });

  it('are small at first, so that a job that is wrong shows it early: 10, 100, then as many as the job says', async () => {
    expect(await sizesOf(1115, { batchSize: 1000 })).toEqual([10, 100, 1000, 5]);
    expect(await sizesOf(111, { batchSize: 100 })).toEqual([10, 100, 1]);
    expect(await sizesOf(61, { batchSize: 50 })).toEqual([10, 50, 1]);
    expect(await sizesOf(25, { batchSize: 10 })).toEqual([10, 10, 5]);
    const limits = someLimits({ messagesPerSecond: 2 });
    expect(await sizesOf(13, { batchSize: 10_000, limits })).toEqual([2, 2, 2, 2, 2, 2, 1]);
  });

  it('hold no more than the limits let through in a second', async () => {
    expect(await sizesOf(7, { limits: someLimits({ messagesPerSecond: 4 }) })).toEqual([4, 3]);
    const twoParts = 'x'.repeat(161);
    expect(await sizesOf(7, { text: twoParts, limits: someLimits({ segmentsPerSecond: 7 }) })).toEqual([3, 3, 1]);
  });

  it('hold one message at least, though it alone exceeds a limit', async () => {
    const limits = someLimits({ segmentsPerSecond: 1, messagesPerSecond: 0.5 });
    expect(await sizesOf(2, { text: 'x'.repeat(161), limits })).toEqual([1, 1]);
  });

  it('hold fewer messages where these are longer: by segments row by row', async () => {
    const long = 'x'.repeat(200);
    const rows = ['A', long, 'B', 'C', long, long].map((name, index) => `${aNumber(index)},${name}\n`);
    const step = anSmsStep({ text: '{{ name }}', limits: someLimits({ segmentsPerSecond: 3 }) });
    const files = { 'people.csv': `mobile,name\n${rows.join('')}` };
    const { requests } = await aPlan({ job: { steps: [step] }, files });
    const sizes = requests.map(({ rows, segments }) => `${rows} of ${segments}`);
    expect(sizes).toEqual(['2 of 3', '2 of 2', '1 of 2', '1 of 2']);
  });

  it('count parts in UCS-2 where the job asks for it', async () => {
    const files = { 'people.csv': `mobile,name\n${aNumber(0)},${'x'.repeat(67)}\n${aNumber(1)},${'x'.repeat(68)}\n` };
    const template = aTemplate({ text: 'Hi {{ name }}', encoding: 'UCS2' });
    const { requests } = await aPlan({ job: { steps: [anSmsStep({ template })] }, files });
    expect(requests.map(({ segments }) => segments)).toEqual([1 + 2]);
  });

  it('of a text without variables carry it once, in the template', async () => {
    const template = aTemplate({ source: 'ACME', text: 'Sale “now”', scheduled: { at: '2027-01-01T09:00:00+08:00' } });
    const { requests, plan } = await aPlan({ job: { steps: [anSmsStep({ template, batchSize: 2 })] } });
    const batchId = clientBatchIdOf({ planId: plan.id, step: 1, request: 1, part: '' });
    expect(requests[0]?.text).toBe(
      `{"clientBatchId":"${batchId}","includeMessagesInResponse":true,` +
        '"template":{"source":"ACME","text":"Sale “now”","encoding":"AUTO","scheduled":"2027-01-01T09:00:00+08:00"},' +
        `"messages":[{"destination":"+6590000000","clientMessageId":"${plan.id}-1-0"},` +
        `{"destination":"+6590000001","clientMessageId":"${plan.id}-1-1"}]}`,
    );
    expect(requests[1]?.json).toMatchObject({ messages: [{ clientMessageId: `${plan.id}-1-2` }] });
  });

  it('of a text with variables carry it message by message', async () => {
    const files = { 'people.csv': 'mobile,name\n90000000,"Ann ""the"" first"\n90000001,Béa\n' };
    const { requests, plan } = await aPlan({ job: { steps: [anSmsStep({ text: 'Hi {{ name }}' })] }, files });
    const batchId = clientBatchIdOf({ planId: plan.id, step: 1, request: 1, part: '' });
    expect(requests.map(({ text }) => text)).toEqual([
      `{"clientBatchId":"${batchId}","includeMessagesInResponse":true,"template":{"encoding":"AUTO"},` +
        `"messages":[{"destination":"+6590000000","text":"Hi Ann \\"the\\" first","clientMessageId":"${plan.id}-1-0"},` +
        `{"destination":"+6590000001","text":"Hi Béa","clientMessageId":"${plan.id}-1-1"}]}`,
    ]);
  });

  it('number the rows that are sent, whatever stands between them', async () => {
    const files = {
      'people.csv': `mobile,name\n${aNumber(0)},A\nnope,B\n${aNumber(0)},C\n${aNumber(1)},D\n${aNumber(2)},E\n`,
    };
    const { requests, rows, plan } = await aPlan({ job: { steps: [anSmsStep({ batchSize: 2 })] }, files });
    expect(requests.map(({ request, first, rows: count }) => [request, first, count])).toEqual([
      [1, 0, 2],
      [2, 2, 1],
    ]);
    expect(requests.flatMap(({ json }) => json.messages.map((each) => each.clientMessageId))).toEqual(
      [0, 1, 2].map((index) => `${plan.id}-1-${index}`),
    );
    expect(rows.flatMap((row) => (row.state === 'planned' ? [[row.row, row.request]] : []))).toEqual([
      [1, 1],
      [4, 1],
      [5, 2],
    ]);
  });
});

it('requests of a contacts step make one contact each', async () => {
  const step = aContactsStep({ fields: { msisdn: 'mobile', firstName: 'name' }, groups: [7] });
  const { requests } = await aPlan({ job: { steps: [step] }, files: { 'people.csv': aCsvOf(2) } });
  expect(requests.map(({ text }) => text)).toEqual(
    [0, 1].map((index) => `{"firstName":"n${index}","groups":[{"id":7}],"addresses":{"msisdn":"${aNumber(index)}"}}`),
  );
});

describe('ids of requests', () => {
  it('are at most 20 characters and differ for every plan, step, request and part', () => {
    const key = fc.record({
      planId: fc.stringMatching(/^[0-9a-z]{12}$/),
      step: fc.integer({ min: 1, max: 99 }),
      request: fc.integer({ min: 1, max: 1e9 }),
      part: fc.stringMatching(/^[01]{0,14}$/),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(key, { selector: (each) => JSON.stringify(Object.values(each)), maxLength: 200 }),
        (keys) => {
          const ids = keys.map(clientBatchIdOf);
          expect(new Set(ids).size).toBe(keys.length);
          for (const id of ids) expect(id).toMatch(/^[0-9a-z]{1,20}$/);
        },
      ),
    );
  });

  it('tell neighbours apart: steps, requests and parts whose digits run together', () => {
    const key = { planId: 'p', step: 1, request: 11, part: '0' };
    const ids = [
      key,
      { ...key, step: 11, request: 1 },
      { ...key, part: '00' },
      { ...key, part: '' },
      { ...key, request: 110, part: '' },
    ];
    expect(new Set(ids.map(clientBatchIdOf)).size).toBe(ids.length);
  });
});

describe('the estimate', () => {
  const secondsOf = async (step: Parameters<typeof anSmsStep>[0]) =>
    (await aPlan({ job: { steps: [anSmsStep(step)] }, files: { 'people.csv': aCsvOf(10) } })).step.estimateSeconds;

  it('is the least time that the narrowest limit allows', async () => {
    expect(await secondsOf({ batchSize: 2, limits: someLimits({ requestsPerSecond: 1 }) })).toBe(5);
    expect(await secondsOf({ batchSize: 2, limits: someLimits({ messagesPerSecond: 2 }) })).toBe(5);
    const long = { text: 'x'.repeat(161), batchSize: 2, limits: someLimits({ segmentsPerSecond: 5 }) };
    expect(await secondsOf(long)).toBe(4);
    expect(await secondsOf({ batchSize: 5, limits: someLimits({ requestsPerSecond: 50 }) })).toBe(1);
  });

  it('counts messages, segments and requests of the plan', async () => {
    const step = anSmsStep({ text: 'x'.repeat(161), batchSize: 4, input: anInput() });
    const { step: planned } = await aPlan({ job: { steps: [step] }, files: { 'people.csv': aCsvOf(10) } });
    const expected = { read: 10, planned: 10, rejected: 0, skipped: 0, requests: 3, messages: 10, segments: 20 };
    expect(planned.counts).toEqual(expected);
  });
});
