import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Cell } from '../../src/domain/row.js';
import { type ContactBinding, createContactNormalizer } from '../../src/normalize/contact.js';

const columns = ['id', 'first_name', 'last_name', 'mobile', 'mail', 'land', 'city', 'note', 'line_id'];

function aBinding(changes: Partial<ContactBinding> = {}): ContactBinding {
  return {
    columns,
    fieldColumns: { firstName: 1, lastName: 2, externalId: 0, msisdn: 3, email: 4, lineId: 8 },
    attributeColumns: [],
    countryIndex: undefined,
    country: 'SG',
    groups: [],
    ...changes,
  };
}

function aRow(cells: Partial<Record<(typeof columns)[number], Cell>>): string[] {
  return columns.map((column) => cells[column] ?? '');
}

function normalize(cells: Record<string, Cell>, changes: Partial<ContactBinding> = {}) {
  return createContactNormalizer(aBinding(changes))(aRow(cells));
}

function bodyOf(cells: Record<string, Cell>, changes: Partial<ContactBinding> = {}) {
  const result = normalize(cells, changes);
  if (!result.ok) throw new Error(`refused: ${result.rejection.code}`);
  return result.body;
}

function rejectionOf(cells: Record<string, Cell>, changes: Partial<ContactBinding> = {}) {
  const result = normalize(cells, changes);
  if (result.ok) throw new Error('accepted');
  return result.rejection;
}

describe('contact', () => {
  it('is the exact body of a request, its keys in a fixed order', () => {
    const fieldColumns = { lineId: 8, email: 4, msisdn: 3, country: 5, externalId: 0, lastName: 2, firstName: 1 };
    const attributeColumns = [
      { name: 'Town', index: 6 },
      { name: 'note', index: 7 },
    ];
    const cells = {
      id: '7',
      first_name: 'Ann',
      last_name: 'Lee',
      mobile: '9123 4567',
      mail: 'ann@example.com',
      land: 'sg',
    };
    const body = bodyOf(
      { ...cells, city: 'Jurong', note: 'a\nb', line_id: 'U1' },
      { fieldColumns, attributeColumns, groups: [9, 4] },
    );
    expect(JSON.stringify(body)).toBe(
      '{"firstName":"Ann","lastName":"Lee","externalId":"7","country":"SG","groups":[{"id":9},{"id":4}],' +
        '"addresses":{"msisdn":"+6591234567","email":"ann@example.com","lineId":"U1"},' +
        '"customAttributes":{"Town":"Jurong","note":"a\\nb"}}',
    );
  });

  it('leaves blank cells, missing cells and empty groups out of the body, and trims the rest', () => {
    const body = bodyOf(
      { first_name: ' Ann\u00A0', last_name: '  ', mobile: '+6591234567', mail: undefined, note: ' ' },
      { attributeColumns: [{ name: 'note', index: 7 }] },
    );
    expect(JSON.stringify(body)).toBe('{"firstName":"Ann","addresses":{"msisdn":"+6591234567"}}');
  });

  it('gives the number and its own country beside the body', () => {
    expect(normalize({ mobile: '+60123456789' })).toMatchObject({ msisdn: '+60123456789', country: 'MY' });
    expect(normalize({ mail: 'ann@example.com' })).toMatchObject({ msisdn: undefined, country: undefined });
  });

  it('has its number read in the row’s country, else in the input’s', () => {
    const byRow = { countryIndex: 5 };
    expect(bodyOf({ mobile: '0123456789', land: 'my' }, byRow).addresses.msisdn).toBe('+60123456789');
    expect(bodyOf({ mobile: '91234567', land: ' ' }, byRow).addresses.msisdn).toBe('+6591234567');
    expect(rejectionOf({ mobile: '91234567' }, { country: undefined })).toMatchObject({
      field: 'mobile',
      code: 'no-country',
    });
  });

  it('with a country that is none is refused at the column that says so, unless the number names its own', () => {
    const rejection = rejectionOf({ mobile: '91234567', land: 'Atlantis' }, { countryIndex: 5 });
    expect(rejection).toMatchObject({ stage: 'normalize', field: 'land', code: 'bad-country' });
    expect(rejection.reason).toContain('such as SG');
    expect(normalize({ mobile: '+6591234567', land: 'Atlantis' }, { countryIndex: 5 }).ok).toBe(true);
  });

  it('with a country of its own that is none is refused', () => {
    const rejection = rejectionOf(
      { mobile: '+6591234567', land: 'Atlantis' },
      { fieldColumns: { msisdn: 3, country: 5 } },
    );
    expect(rejection).toMatchObject({ field: 'land', code: 'bad-country' });
  });

  it('with a number that is there and not valid is refused, though another address stands beside it', () => {
    const rejection = rejectionOf({ mobile: 'n/a', mail: 'ann@example.com' });
    expect(rejection).toMatchObject({ stage: 'normalize', field: 'mobile', code: 'placeholder' });
  });

  it('without any address is refused, naming the columns that could hold one', () => {
    const rejection = rejectionOf({ first_name: 'Ann' });
    expect(rejection).toMatchObject({ field: '', code: 'no-address' });
    expect(rejection.reason).toContain('mobile, mail, line_id are empty');
    expect(rejectionOf({ mobile: '+6591234567' }, { fieldColumns: { firstName: 1 } }).code).toBe('no-address');
  });

  it.each([
    ['first_name', 200],
    ['last_name', 200],
    ['id', 50],
    ['line_id', 128],
  ])('takes %s of %i characters and refuses one more', (column, max) => {
    expect(normalize({ mobile: '+6591234567', [column]: 'x'.repeat(max) }).ok).toBe(true);
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
    const attributeColumns = [{ name: 'Remark', index: 7 }];
    const cells = { mobile: '+6591234567' };
    expect(bodyOf({ ...cells, note: 'a\r\n\tb' }, { attributeColumns }).customAttributes).toEqual({
      Remark: 'a\r\n\tb',
    });
    expect(rejectionOf({ ...cells, note: 'a\u0000b' }, { attributeColumns })).toMatchObject({
      field: 'note',
      code: 'control-character',
    });
  });

  it('has at most 50 attributes, counting only those with a value', () => {
    const names = Array.from({ length: 60 }, (_, at) => `c${at}`);
    const read = createContactNormalizer(
      aBinding({
        columns: ['mobile', ...names],
        fieldColumns: { msisdn: 0 },
        attributeColumns: names.map((name, at) => ({ name, index: at + 1 })),
      }),
    );
    const rowOf = (filled: number) => ['+6591234567', ...names.map((_, at) => (at < filled ? 'x' : ' '))];
    const fifty = read(rowOf(50));
    expect(fifty.ok && Object.keys(fifty.body.customAttributes ?? {})).toHaveLength(50);
    expect(read(rowOf(51))).toMatchObject({ ok: false, rejection: { field: '', code: 'too-many-attributes' } });
  });

  it('may have an attribute called __proto__', () => {
    const body = bodyOf({ mobile: '+6591234567', note: 'x' }, { attributeColumns: [{ name: '__proto__', index: 7 }] });
    expect(JSON.stringify(body)).toContain('"customAttributes":{"__proto__":"x"}');
  });

  it('is within the limits of the service or refused, whatever the cells hold', () => {
    const read = createContactNormalizer(
      aBinding({ fieldColumns: { firstName: 0, externalId: 1, msisdn: 2, email: 3, zaloId: 4 } }),
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 260 }),
      fc.emailAddress(),
      fc.constantFrom('', '91234567'),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), (cells) => {
        const result = read(cells);
        if (!result.ok) {
          expect(result.rejection.stage).toBe('normalize');
          return;
        }
        const { firstName = 'x', externalId = 'x', addresses } = result.body;
        expect([firstName.length <= 200, externalId.length <= 50]).toEqual([true, true]);
        expect(Object.values(addresses).length).toBeGreaterThan(0);
        for (const value of [firstName, externalId, ...Object.values(addresses)]) expect(value).toBe(value.trim());
      }),
    );
  });
});
