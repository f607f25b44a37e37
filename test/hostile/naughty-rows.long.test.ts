import { describe, expect, test } from 'vitest';
import type { ContactEntry } from '../../src/sandbox/contacts.js';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import type { SmsEntry } from '../../src/sandbox/sms/batch-schema.js';
import { readOutput } from '../e2e/account.js';
import { expectAccountOrRefusal, useWholeJobs } from './a-whole-job.js';
import { NAUGHTY } from './naughty-strings.js';

const runWhole = useWholeJobs();
const LIMITS = { requestsPerSecond: 1800, concurrency: 1 };
const numberOf = (index: number) => `+65${91_000_000 + index}`;
/** Nothing that can be seen. */
const BLANK = /^[\s\p{Cf}]*$/u;
const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`;

/** What became of files that a job of one step sends: each of their rows is accounted for. */
async function send(files: Readonly<Record<string, string>>, step: object) {
  const ended = await runWhole({ files, steps: [{ limits: LIMITS, ...step }] });
  expect(expectAccountOrRefusal(ended)).toBe('account');
  return ended;
}

function isSms(entry: LedgerEntry): entry is SmsEntry {
  return entry.area === 'sms';
}

function isContact(entry: LedgerEntry): entry is ContactEntry {
  return entry.area === 'contacts';
}

describe('each naughty string', () => {
  test('in the cell of a template is sent as it stands, or its row is rejected with a reason', async () => {
    const csv = `text,mobile\n${NAUGHTY.map((text, index) => `${quote(text)},${numberOf(index)}\n`).join('')}`;
    const step = {
      kind: 'sms',
      input: { files: 'people.csv' },
      destination: 'mobile',
      template: { source: 'ACME', text: '{{ text }}' },
      limits: { ...LIMITS, messagesPerSecond: 25_000 },
    };

    const ended = await send({ 'people.csv': csv }, step);

    const sent = new Map(ended.ledger.filter(isSms).map(({ destination, text }) => [destination, text]));
    const rejected = readOutput(ended.summary!, 1, 'rejections');
    for (const [index, text] of NAUGHTY.entries()) {
      const row = rejected.find(({ mobile }) => mobile === numberOf(index));
      if (row === undefined) expect(sent.get(numberOf(index))).toBe(text);
      else expect([row.text, row._reason !== '']).toEqual([text, true]);
    }
    for (const { text, _code } of rejected)
      expect([text, _code]).toEqual([expect.stringMatching(BLANK), 'missing-value']);
  });

  test('in the cells of a contact is taken as it stands, trimmed, or rejected with a reason', async () => {
    const rows = NAUGHTY.map((text, index) => `${quote(text)},${numberOf(index)}\n`);
    const fields = { firstName: 'name', lastName: 'name', msisdn: 'mobile' };
    const step = { kind: 'contacts', input: { files: 'people.csv' }, fields };

    const ended = await send({ 'people.csv': `name,mobile\n${rows.join('')}` }, step);

    const taken = new Map(ended.ledger.filter(isContact).map(({ contact }) => [msisdnOf(contact), contact.firstName]));
    const rejected = readOutput(ended.summary!, 1, 'rejections').map(({ mobile, _code }) => [mobile, _code]);
    const codes = new Map(rejected as [string, string][]);
    for (const [index, text] of NAUGHTY.entries()) {
      const number = numberOf(index);
      const blank = text.trim() === '' ? undefined : text.trim();
      if (codes.has(number)) expect(codes.get(number)).toBe(text.length > 200 ? 'field-too-long' : 'control-character');
      else expect([number, taken.get(number)]).toEqual([number, blank]);
    }
    expect(ended.taken).toBeGreaterThan(440);
  });

  test('as the name of a column, in CSV and NDJSON, is the name of the attribute, trimmed', async () => {
    const names = [...new Set(NAUGHTY.map((name) => name.trim()))].filter((name) => name !== '');
    const groups = Array.from({ length: Math.ceil(names.length / 40) }, (_, at) => names.slice(at * 40, at * 40 + 40));
    const files = groups.flatMap((group, index): [string, string][] => {
      const header = ['mobile', ...group].map(quote).join(',');
      const cells = [numberOf(index), ...group.map((_, at) => `v${at}`)].join(',');
      const row = Object.fromEntries([['mobile', numberOf(500 + index)], ...group.map((name, at) => [name, `v${at}`])]);
      return [
        [`${index}.csv`, `${header}\n${cells}\n`],
        [`${index}.ndjson`, JSON.stringify(row)],
      ];
    });
    const input = { files: ['*.csv', '*.ndjson'] };
    const step = { kind: 'contacts', input, fields: { msisdn: 'mobile' }, customAttributes: 'rest' };

    const ended = await send(Object.fromEntries(files), step);

    expect(ended.summary?.balance.accepted).toBe(groups.length * 2);
    const attributes = ended.ledger
      .filter(isContact)
      .flatMap(({ contact }) => Object.keys(contact.customAttributes ?? {}));
    expect([...new Set(attributes)].sort()).toEqual([...names].sort());
  });

  test('as the name of a file is the file that is read, and its name in the outputs', async () => {
    const names = NAUGHTY.filter((name) => isFileName(name) && !/\p{Cc}/u.test(name));
    const files = names.map((name, index): [string, string] => [`in/${name}`, `mobile\n${numberOf(index)}\n`]);
    const input = { files: names.map((name) => `in/${name}`), format: 'csv' };

    const ended = await send(Object.fromEntries(files), { kind: 'contacts', input, fields: { msisdn: 'mobile' } });

    expect(names.length).toBeGreaterThan(250);
    const told = readOutput(ended.summary!, 1, 'results').map(({ _file, mobile }) => [_file, mobile]);
    expect(told.sort()).toEqual(names.map((name, index) => [`in/${name}`, numberOf(index)]).sort());
  });
});

function msisdnOf(contact: ContactEntry['contact']): string {
  return `+${String((contact.addresses as Record<string, unknown>).msisdn).replace('+', '')}`;
}

function isFileName(name: string): boolean {
  return !name.includes('/') && !['', '.', '..'].includes(name) && Buffer.byteLength(name) < 256;
}
