import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextBuffer } from '../../../src/domain/bytes/text-buffer.js';
import type { Cell } from '../../../src/domain/row.js';
import type { ContactsStep } from '../../../src/job/job.js';
import { bindContact, type ContactBody } from '../../../src/kinds/contacts.js';
import { Columns } from '../../../src/normalize/columns.js';
import { aContactsStep, anInput } from '../../plan/a-plan.js';
import { aByteRow } from '../a-row.js';

const columns = ['id', 'first_name', 'last_name', 'mobile', 'mail', 'land', 'city', 'note', 'line_id'];
const fields = {
  firstName: 'first_name',
  lastName: 'last_name',
  externalId: 'id',
  msisdn: 'mobile',
  email: 'mail',
  lineId: 'line_id',
};
const byRow = { input: anInput({ country: 'SG', countryColumn: 'land' }) };

function bind(changes: Partial<ContactsStep> = {}, names = columns) {
  const draftRow = bindContact(
    aContactsStep({ input: anInput({ country: 'SG' }), fields, ...changes }),
    new Columns(names),
  );
  return (cells: readonly Cell[]) => {
    const text = new TextBuffer();
    const draft = draftRow(aByteRow(cells), text);
    return { ...draft, body: text.textFrom(0) };
  };
}

function draft(cells: Record<string, Cell>, changes: Partial<ContactsStep> = {}) {
  return bind(changes)(columns.map((column) => cells[column] ?? ''));
}

function bodyOf(cells: Record<string, Cell>, changes: Partial<ContactsStep> = {}): ContactBody {
  const { refusal, body } = draft(cells, changes);
  if (refusal !== undefined) throw new Error('refused');
  return JSON.parse(body);
}

function rejectionOf(cells: Record<string, Cell>, changes: Partial<ContactsStep> = {}) {
  const { refusal } = draft(cells, changes);
  if (refusal?.kind !== 'rejected') throw new Error('accepted');
  return refusal.rejection;
}

describe('contact', () => {
  it('is the exact body of a request, its keys in a fixed order', () => {
    const { firstName, lastName, ...others } = fields;
    const inDisorder = { ...others, country: 'land', lastName, firstName };
    const customAttributes = { Town: 'city', note: 'note' };
    const cells = {
      id: '7',
      first_name: 'Ann',
      last_name: 'Lee',
      mobile: '9123 4567',
      mail: 'ann@example.com',
      land: 'sg',
    };
    const { body } = draft(
      { ...cells, city: 'Jurong', note: 'a\nb', line_id: 'U1' },
      { fields: inDisorder, customAttributes, groups: [9, 4] },
    );
    expect(body).toBe(
      '{"firstName":"Ann","lastName":"Lee","externalId":"7","country":"SG","groups":[{"id":9},{"id":4}],' +
        '"addresses":{"msisdn":"+6591234567","email":"ann@example.com","lineId":"U1"},' +
        '"customAttributes":{"Town":"Jurong","note":"a\\nb"}}',
    );
  });

  it('leaves blank cells, missing cells and empty groups out of the body, and trims the rest', () => {
    const { body } = draft(
      { first_name: ' Ann\u00A0', last_name: '  ', mobile: '+6591234567', mail: undefined, note: ' ' },
      { customAttributes: { note: 'note' } },
    );
    expect(body).toBe('{"firstName":"Ann","addresses":{"msisdn":"+6591234567"}}');
  });

  it('gives the number and its own country beside the body', () => {
    expect(draft({ mobile: '+60123456789' })).toMatchObject({ number: 60123456789, country: 'MY' });
    expect(draft({ mail: 'ann@example.com' }).number).toBeUndefined();
  });

  it('has its number read in the row’s country, else in the input’s', () => {
    expect(bodyOf({ mobile: '0123456789', land: 'my' }, byRow).addresses.msisdn).toBe('+60123456789');
    expect(bodyOf({ mobile: '91234567', land: ' ' }, byRow).addresses.msisdn).toBe('+6591234567');
    const expected = { field: 'mobile', code: 'no-country' };
    expect(rejectionOf({ mobile: '91234567' }, { input: anInput({ country: undefined }) })).toMatchObject(expected);
  });

  it('with a country that is none is refused at the column that says so, unless the number names its own', () => {
    const rejection = rejectionOf({ mobile: '91234567', land: 'Atlantis' }, byRow);
    expect(rejection).toMatchObject({ stage: 'normalize', field: 'land', code: 'bad-country' });
    expect(rejection.reason).toContain('such as SG');
    expect(draft({ mobile: '+6591234567', land: 'Atlantis' }, byRow).refusal).toBeUndefined();
  });

  it('with a country of its own that is none is refused', () => {
    const rejection = rejectionOf(
      { mobile: '+6591234567', land: 'Atlantis' },
      { fields: { msisdn: 'mobile', country: 'land' } },
    );
    expect(rejection).toMatchObject({ field: 'land', code: 'bad-country' });
  });

  it('with a country that is none, of its own and of its number, names one fault, however the job writes the column', () => {
    for (const countryColumn of ['land', 'LAND', ' Land ']) {
      const input = anInput({ country: undefined, countryColumn });
      const rejection = rejectionOf(
        { mobile: '91234567', land: 'Atlantis' },
        { input, fields: { msisdn: 'mobile', country: 'Land' } },
      );
      expect(rejection).toMatchObject({ field: 'land', code: 'bad-country' });
      expect(rejection.reason).not.toContain('faults');
    }
  });

  it('with a number that is there and not valid is refused, though another address stands beside it', () => {
    const rejection = rejectionOf({ mobile: 'n/a', mail: 'ann@example.com' });
    expect(rejection).toMatchObject({ stage: 'normalize', field: 'mobile', code: 'placeholder' });
  });

  it('with several faults names them in the order of the fields, the number before other addresses', () => {
    const { code, reason } = rejectionOf({ last_name: 'x'.repeat(201), mobile: 'n/a', mail: 'ann' });
    expect(code).toBe('field-too-long');
    expect(reason.indexOf('placeholder')).toBeGreaterThan(0);
    expect(reason.indexOf('not an email')).toBeGreaterThan(reason.indexOf('placeholder'));
  });

  it('without any address is refused, naming the columns that could hold one', () => {
    const rejection = rejectionOf({ first_name: 'Ann' });
    expect(rejection).toMatchObject({ field: '', code: 'no-address' });
    expect(rejection.reason).toContain('mobile, mail, line_id are empty');
    expect(rejectionOf({ mobile: '+6591234567' }, { fields: { firstName: 'first_name' } }).code).toBe('no-address');
  });

  it.each([
    ['first_name', 200],
    ['last_name', 200],
    ['id', 50],
    ['line_id', 128],
  ])('takes %s of %i characters and refuses one more', (column, max) => {
    expect(draft({ mobile: '+6591234567', [column]: 'x'.repeat(max) }).refusal).toBeUndefined();
    const rejection = rejectionOf({ mobile: '+6591234567', [column]: 'x'.repeat(max + 1) });
    expect(rejection).toMatchObject({ field: column, code: 'field-too-long' });
  });

  it('takes an email address of 320 characters and refuses a longer or a broken one', () => {
    const label = 'b'.repeat(61);
    const longest = `${'a'.repeat(64)}@${label}.${label}.${label}.${label}.${'c'.repeat(7)}`;
    expect(longest).toHaveLength(320);
    expect(bodyOf({ mail: longest }).addresses.email).toBe(longest);
    expect(rejectionOf({ mail: `${longest}c` })).toMatchObject({ field: 'mail', code: 'field-too-long' });
    expect(rejectionOf({ mail: 'ann(at)example.com' })).toMatchObject({ field: 'mail', code: 'bad-email' });
  });

  it('refuses control characters and half characters in names and ids, and does not quote them', () => {
    for (const text of ['A\u0000nn', 'A\nnn', 'A\u001B[31m', 'A\uD800', 'A\u0085n']) {
      const rejection = rejectionOf({ mobile: '+6591234567', first_name: text });
      expect(rejection).toMatchObject({ field: 'first_name', code: 'control-character' });
      expect(rejection.reason).not.toMatch(/[\p{Cc}\p{Cs}]/u);
    }
    expect(bodyOf({ mobile: '+6591234567', first_name: '李 🎉 O’Néil' }).firstName).toBe('李 🎉 O’Néil');
  });

  it('lets attributes hold line breaks and tabs, and no other control characters', () => {
    const customAttributes = { Remark: 'note' };
    const cells = { mobile: '+6591234567' };
    expect(bodyOf({ ...cells, note: 'a\r\n\tb' }, { customAttributes }).customAttributes).toEqual({
      Remark: 'a\r\n\tb',
    });
    const expected = { field: 'note', code: 'control-character' };
    expect(rejectionOf({ ...cells, note: 'a\u0000b' }, { customAttributes })).toMatchObject(expected);
  });

  it('has at most 50 attributes, counting only those with a value', () => {
    const names = Array.from({ length: 60 }, (_, at) => `c${at}`);
    const customAttributes = Object.fromEntries(names.map((name) => [name, name]));
    const read = bind({ fields: { msisdn: 'mobile' }, customAttributes }, ['mobile', ...names]);
    const rowOf = (filled: number) => ['+6591234567', ...names.map((_, at) => (at < filled ? 'x' : ' '))];
    expect(Object.keys(JSON.parse(read(rowOf(50)).body).customAttributes)).toHaveLength(50);
    expect(read(rowOf(51)).refusal).toMatchObject({ rejection: { field: '', code: 'too-many-attributes' } });
  });

  it('may have an attribute called __proto__', () => {
    const customAttributes = Object.fromEntries([['__proto__', 'note']]);
    expect(draft({ mobile: '+6591234567', note: 'x' }, { customAttributes }).body).toContain(
      '"customAttributes":{"__proto__":"x"}',
    );
  });

  it('is within the limits of the service or refused, whatever the cells hold', () => {
    const names = { firstName: 'a', externalId: 'b', msisdn: 'c', email: 'd', zaloId: 'e' };
    const read = bind({ fields: names }, Object.values(names));
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 260 }),
      fc.emailAddress(),
      fc.constantFrom('', '91234567'),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), (cells) => {
        const { refusal, body } = read(Object.keys(names).map((_, at) => cells[at] ?? ''));
        if (refusal !== undefined) {
          expect(refusal).toMatchObject({ rejection: { stage: 'normalize' } });
          return;
        }
        const { firstName = 'x', externalId = 'x', addresses }: ContactBody = JSON.parse(body);
        expect([firstName.length <= 200, externalId.length <= 50]).toEqual([true, true]);
        expect(Object.values(addresses).length).toBeGreaterThan(0);
        for (const value of [firstName, externalId, ...Object.values(addresses)]) expect(value).toBe(value.trim());
      }),
    );
  });
});
