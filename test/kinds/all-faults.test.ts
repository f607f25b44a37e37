import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContactsStep, RowStep, SmsStep } from '../../src/job/job.js';
import { aContactsStep, anInput, anSmsStep } from '../plan/a-plan.js';
import { MAKING_STEP } from '../run/a-gateway.js';
import { aCheck } from '../run/a-verification-run.js';
import { planRows } from './a-row.js';

const COLUMNS = ['mobile', 'country', 'name', 'code', 'day', 'mail', 'teams'];
type Row = Partial<Record<'mobile' | 'country' | 'name' | 'code' | 'day' | 'mail' | 'teams', string>>;

/** What becomes of a row: undefined where it is planned, else its rejection, the reason as the fields that it names. */
function refuse(step: RowStep, row: Row) {
  const cells = COLUMNS.map((column) => row[column as keyof Row] ?? '');
  const [plan] = planRows(step, COLUMNS, cells);
  if (plan?.kind !== 'rejected') return undefined;
  const { field, code, reason } = plan.rejection;
  const fields = [...reason.matchAll(/\(\d\) (?:([\w.]+): )?/g)].map(([, name]) => name ?? '');
  return { field, code, fields: fields.length === 0 ? [field] : fields, reason };
}

const input = anInput({ countryColumn: 'country', country: undefined });
const anSms = (text: string, changes: Partial<SmsStep> = {}) => anSmsStep({ input, text, ...changes });
const aContact = (changes: Partial<ContactsStep> = {}) =>
  aContactsStep({
    input,
    fields: { firstName: 'name', externalId: 'code', msisdn: 'mobile', email: 'mail' },
    customAttributes: { day: 'day' },
    groupsColumn: 'teams',
    ...changes,
  });

describe('an sms row names all its faults at once', () => {
  it.each<[string, Row, string[]]>([
    ['Hi {{ name }}, {{ code }}', { mobile: '912', country: 'SG' }, ['mobile', 'name', 'code']],
    ['Hi {{ name }}, {{ code }}', { mobile: '+6591234567' }, ['name', 'code']],
    ['Hi {{ name | upcase }}, {{ code | append: day }}', { mobile: '' }, ['mobile', 'name', 'code', 'day']],
    ['Hi {{ name }}', { mobile: 'n/a', country: 'Atlantis' }, ['mobile', 'country', 'name']],
    ['Hi {{ name }}', { mobile: '91234567', country: 'Atlantis' }, ['country', 'name']],
    ['Hi {{ name }}', { mobile: '+6591', country: 'Atlantis', name: 'Ann' }, ['mobile']],
    ['{% if name %}{{ code }}{% else %}{{ day }}{% endif %}', { mobile: '9' }, ['mobile', 'day']],
    ['{{ name | default: code }} {{ name }} {{ name }}', { mobile: '+6591234567' }, ['code', 'name']],
    ['{{ name }} {{ code | default: "x" }}', { mobile: '12', country: 'SG' }, ['mobile', 'name']],
    ['{{ name }} {{ day | date: "%d" }}', { mobile: '+6591234567', day: 'soon' }, ['name', '']],
    ['{{ day | date: "%d" }} {{ code | date: "%m" }}', { mobile: '+6591234567', day: 'x', code: 'y' }, ['', '']],
    ['same for all', { mobile: '12', country: 'SG' }, ['mobile']],
    ['{{ name }}', { mobile: '12', country: 'SG', name: 'x'.repeat(2000) }, ['mobile', 'text']],
  ])('%s: %j', (text, row, fields) => {
    const refusal = refuse(anSms(text), row);
    expect(refusal?.fields).toEqual(fields);
    expect(refusal?.field).toBe(fields[0]);
  });

  it('and a row is refused no second time for what it had before, once every fault is fixed', () => {
    const bad = fc.record({
      mobile: fc.constantFrom('', '12', 'n/a', '91234567', '+6591234567'),
      country: fc.constantFrom('', 'SG', 'Atlantis'),
      name: fc.constantFrom('', ' ', 'Ann'),
      code: fc.constantFrom('', 'X1'),
      day: fc.constantFrom('', 'soon', '2026-11-01'),
    });
    const fixed: Record<string, string> = {
      mobile: '91234567',
      country: 'SG',
      name: 'Ann',
      code: 'X1',
      day: '2026-11-01',
    };
    const texts = ['{{ name }} {{ code }}', '{{ name | upcase }} {{ code }} {{ day | date: "%d" }}', 'Hi'];
    fc.assert(
      fc.property(bad, fc.constantFrom(...texts), (row, text) => {
        const refusal = refuse(anSms(text), row);
        if (refusal === undefined) return;
        // A date is named by the template, a country that is none also by its number.
        const named = refusal.fields.map((field) => (field === '' ? 'day' : field));
        const all = refusal.code === 'bad-country' || refusal.code === 'no-country' ? [...named, 'country'] : named;
        const repaired = { ...row, ...Object.fromEntries(all.map((field) => [field, fixed[field] ?? ''])) };
        const hasCountry = repaired.mobile.startsWith('+') || row.country === 'SG' || all.includes('country');
        expect(refuse(anSms(text), hasCountry ? repaired : { ...repaired, country: 'SG' })).toBeUndefined();
      }),
    );
  });
});

describe('a contact names all its faults at once', () => {
  it.each<[Row, string[]]>([
    [{ mobile: '912', country: 'SG', mail: 'ann', teams: 'VIP', name: 'A\u0000' }, ['name', 'mobile', 'mail', 'teams']],
    [{ mobile: 'n/a', country: 'Atlantis', day: 'a\u0000' }, ['mobile', 'country', 'day']],
    [{ mobile: '91234567', country: 'Atlantis', mail: 'ann' }, ['country', 'mail']],
    [{ code: 'x'.repeat(51), teams: '0' }, ['code', 'teams', '']],
    [{ mail: 'ann' }, ['mail']],
    [{}, ['']],
  ])('%j', (row, fields) => {
    const refusal = refuse(aContact(), row);
    expect(refusal?.fields).toEqual(fields);
    expect(refusal?.field).toBe(fields[0]);
  });

  it('and a country that number and contact share only once', () => {
    const fields = { country: 'country', msisdn: 'mobile' };
    expect(refuse(aContact({ fields }), { mobile: '91234567', country: 'Atlantis' })?.fields).toEqual(['country']);
  });
});

describe('rows of other steps name all their faults at once', () => {
  it('session and code of a check', () => {
    const check = aCheck({ input, session: 'name' });
    expect(refuse(check, {})).toMatchObject({ field: 'name', code: 'missing-value', fields: ['name', 'code'] });
    const expected = { code: 'bad-session-id', fields: ['name', 'code'] };
    expect(refuse(check, { name: 'a b', code: '1' })).toMatchObject(expected);
    expect(refuse(check, { name: 'ab', code: '-' })).toMatchObject({ code: 'bad-code', fields: ['code'] });
  });

  it('user and history of a conversation', () => {
    const handOff = { ...MAKING_STEP, input, user: 'name', history: 'code' };
    expect(refuse(handOff, { name: '{', code: '{' })).toMatchObject({ field: 'name', fields: ['name', 'code'] });
    const user = JSON.stringify({ phone: '12', email: 'ann', language: 'English' });
    const expected = { field: 'name.phone', fields: ['name.phone', 'name.email', 'name.language', 'code'] };
    expect(refuse(handOff, { name: user, code: '{' })).toMatchObject(expected);
  });
});
