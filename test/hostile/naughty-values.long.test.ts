import { describe, expect, test } from 'vitest';
import { readSecret } from '../../src/command/open-service.js';
import { UserError } from '../../src/domain/errors.js';
import { ENDPOINTS } from '../../src/domain/service-facts.js';
import { parseJob } from '../../src/job/load.js';
import { Columns } from '../../src/normalize/columns.js';
import { isPlausibleEmail } from '../../src/normalize/contact.js';
import { normalizeCountry } from '../../src/normalize/country.js';
import { normalizeNumber } from '../../src/normalize/number/number.js';
import { readMessages } from '../../src/service/areas/chat.js';
import { checkCode } from '../../src/service/areas/verification.js';
import { buildRequest } from '../../src/service/endpoint.js';
import { parseTemplate } from '../../src/template/parse.js';
import { aJobFile, anSmsStep, aService } from '../job/a-job-file.js';
import { oneIn } from '../one-in.js';
import { renderRow } from '../template/render-row.js';
import { NAUGHTY } from './naughty-strings.js';

/** What it gives, or undefined where it refuses; anything else that it throws fails the test. */
function attempt<T>(task: () => T): T | undefined {
  try {
    return task();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    expect(error.message).not.toBe('');
    return undefined;
  }
}

/** Those that are not refused. */
function accepted<T>(task: (text: string) => T, texts = NAUGHTY): [string, T][] {
  return texts.flatMap((text): [string, T][] => {
    const value = attempt(() => task(text));
    return value === undefined ? [] : [[text, value]];
  });
}

const parse = (changes: Record<string, unknown>) => parseJob(aJobFile(changes), '/jobs/sale.yaml');

describe('each naughty string', () => {
  test('as the text of a message is that text, or no template', () => {
    const texts = accepted((text) => {
      const columns = new Columns([]);
      const bound = parseTemplate(text).bind(columns);
      return columns.problems.length > 0 ? undefined : renderRow(bound, []);
    });
    for (const [text, rendering] of texts) {
      // A Liquid comment, or an output of a figure, is none of these.
      if (!/\{[{%]/.test(text)) expect(rendering).toEqual({ ok: true, text });
    }
    expect(texts.length).toBeGreaterThan(440);
  });

  test('as a sender, an account, the name of a job or of a column is itself, or refused with its place', () => {
    // Each is read with a whole job.
    const some = oneIn(4, NAUGHTY);
    const senders = accepted(
      (source) => parse({ steps: [anSmsStep({ template: { source, text: 'Hi' } })] }).steps[0],
      some,
    );
    for (const [source, step] of senders) {
      expect(step).toMatchObject({ template: { source } });
      expect(source.length).toBeLessThanOrEqual(16);
    }
    const accounts = accepted((account) => parse({ service: aService({ account }) }).service, some);
    for (const [account, service] of accounts) {
      const { path } = buildRequest(service, ENDPOINTS.sendBatch);
      expect(new URL(`https://a.example${path}`).pathname).toBe(`/api/v1/subaccounts/${account}_hq/messages/batch`);
    }
    const names = accepted((name) => parse({ name }).name, some);
    for (const [name, read] of names) expect([read, /^[a-z0-9][a-z0-9._-]*$/.test(name)]).toEqual([name, true]);
    const columns = accepted((destination) => parse({ steps: [anSmsStep({ destination })] }).steps[0], some);
    for (const [destination, step] of columns) expect(step).toMatchObject({ destination });
    for (const { length } of [senders, accounts, names, columns]) expect(length).toBeGreaterThan(0);
  });

  test('as an id in a path is one part of the path, and comes back as it was', () => {
    const { service } = parse({});
    const ask = (sessionId: string) => buildRequest(service, ENDPOINTS.readSession, { ids: { sessionId } });
    const ids = accepted((id) => ask(id).path.split('/').at(-1));
    expect(ids.length).toBeGreaterThan(50);
    for (const [id, encoded] of ids) {
      const parts = new URL(`https://a.example/sessions/${encoded}/end`).pathname.split('/');
      expect(parts.map(decodeURIComponent)).toEqual(['', 'sessions', id, 'end']);
    }
  });

  test('as a code or a room in a query is one value, and comes back as it was', () => {
    const service = parse({ service: aService({ subAccountId: 'acme_hq' }) }).service;
    for (const [code, { path }] of accepted((text) => checkCode.request(service, { sessionId: 's-1', code: text }))) {
      expect([...new URL(`https://a.example${path}`).searchParams]).toEqual([['code', code]]);
    }
    for (const [room, { path }] of accepted((text) => readMessages.request(service, { room: text }))) {
      expect([...new URL(`https://a.example${path}`).searchParams]).toEqual([['room', room]]);
    }
  });

  test('as a secret can be a header, or is refused and not repeated', async () => {
    for (const secret of NAUGHTY) {
      const reading = readSecret({ env: 'KEY' }, { env: { KEY: secret }, readFile: async () => undefined }, 'the key');
      const read = await reading.catch((error: unknown) => error);
      if (read instanceof UserError) {
        if (secret.trim().length > 12) expect(`${read.message} ${read.hint}`).not.toContain(secret);
      } else expect(new Headers({ 'x-api-key': read as string }).get('x-api-key')).toBe(secret);
    }
  });

  test('as a number, a country or an e-mail address is read as one, or refused with a reason', () => {
    for (const text of NAUGHTY) {
      const number = normalizeNumber(text, 'SG');
      if (number.ok) expect(number.e164).toMatch(/^\+[1-9]\d{6,14}$/);
      else expect(number.reason).not.toBe('');
      const country = normalizeCountry(text);
      if (country.ok) expect(country.country).toMatch(/^[A-Z]{2}$/);
      else expect(country.reason).not.toBe('');
      if (isPlausibleEmail(text)) expect(text).toMatch(/^[^\s@]+@[^\s@]+\.[^\s@]+$/);
    }
  });
});
