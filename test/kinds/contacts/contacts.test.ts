import { describe, expect, it } from 'vitest';
import type { ContactsStep } from '../../../src/job/job.js';
import { contactsKind } from '../../../src/kinds/contacts.js';
import { Columns } from '../../../src/normalize/columns.js';
import { aContactsStep, anInput } from '../../plan/a-plan.js';
import { aPart, aResponse, told } from '../a-part.js';
import { planRows } from '../a-row.js';

const SENT = { firstName: 'Ann', externalId: 'C-7', addresses: { msisdn: '+6591234567', email: 'Ann@example.com' } };

describe('answer to a create request', () => {
  const read = (body: unknown, response = {}) =>
    contactsKind.readOutcomes(aResponse(body, response), aPart({ count: 1 }), Buffer.from(JSON.stringify(SENT)));
  const location = 'https://contacts.test/accounts/acme/contacts/77';

  it('201 is a contact made, with its id and address', () => {
    expect(told(read({ id: 77 }, { status: 201, headers: { location } }))).toEqual([
      ['accepted CREATED', '77', location],
    ]);
  });

  it('200 is a contact merged into one that has the address', () => {
    const outcomes = read({ id: '77' });
    expect(told(outcomes)).toEqual([['accepted MERGED', '77', '']]);
    expect(outcomes.verdicts[0]?.reason).toContain('Merged');
  });

  it.each([{ msisdn: '6591234567' }, { email: 'ann@example.com', lineId: 'x' }, {}])(
    'that repeats an address of Volley, or none at all, is ours: %j',
    (addresses) => {
      expect(told(read({ id: 77, addresses }))).toEqual([['accepted MERGED', '77', '']]);
    },
  );

  it('with none of the addresses that were sent belongs to someone else, and puts the row in doubt', () => {
    expect(told(read({ id: 77, addresses: { msisdn: '6598765432' } }))).toEqual([['in-doubt contradiction']]);
    expect(told(read({ id: 77, addresses: { lineId: 'ann' } }))).toEqual([['in-doubt contradiction']]);
  });

  it.each([
    [{ addresses: { msisdn: '6598765432', email: 'ann@example.com' } }],
    [{ addresses: { msisdn: '6591234567', email: 'ben@example.com' } }],
    [{ externalId: 'C-8' }],
    [{ firstName: 'Ben', addresses: { msisdn: '6591234567' } }],
  ])('of a contact that was made, with something else than was sent, puts the row in doubt: %j', (body) => {
    expect(told(read({ id: 77, ...body }, { status: 201 }))).toEqual([['in-doubt contradiction']]);
  });

  it.each([
    [{ firstName: ' ANN ', addresses: { msisdn: '+65 9123 4567', email: 'ANN@example.com', lineId: 'new' } }, 201],
    [{ addresses: { msisdn: '65****4567' } }, 201],
    [
      {
        firstName: 'Anna',
        lastName: 'Lee',
        externalId: 'C-8',
        addresses: { msisdn: '6591234567', email: 'old@example.com' },
      },
      200,
    ],
  ])('in another form, or of a contact that there was, is ours: %j', (body, status) => {
    expect(told(read({ id: 77, ...body }, { status }))[0]?.[0]).toContain('accepted');
  });

  it('without a body is known by its Location, which may stand in a list and have a query', () => {
    expect(told(read('', { status: 201, headers: { location } }))).toEqual([['accepted CREATED', '77', location]]);
    expect(told(read('', { status: 201, headers: { location: [location] } }))[0]?.[1]).toBe('77');
  });

  it.each(['', '{}', 'null', '[]', '{"id":null}', '{"id":""}', '{"id":{}}', '<html>'])(
    'that names no contact (%j) puts the row in doubt',
    (body) => {
      expect(told(read(body, { status: 201 }))).toEqual([['in-doubt unreadable-answer']]);
      expect(told(read(body, { status: 201, headers: { location: 'https://contacts.test/' } }))[0]?.[0]).toContain(
        'in-doubt',
      );
    },
  );
});

describe('contacts bound to the columns of a file', () => {
  const plan = (step: Partial<ContactsStep>, columns: string[], cells: (string | undefined)[]) =>
    planRows(aContactsStep(step), columns, cells)[0]!;
  const bodyOf = (step: Partial<ContactsStep>, columns: string[], cells: (string | undefined)[]) => {
    const planned = plan(step, columns, cells);
    return planned.kind === 'planned' ? JSON.parse(planned.fragment) : planned;
  };

  it('take every column that no field names as an attribute, where the job says rest', () => {
    const step = {
      fields: { msisdn: 'Mobile', firstName: 'name' },
      customAttributes: { rest: { except: [], rename: {} } },
    };
    expect(bodyOf(step, ['tier', 'mobile', 'name', '', 'town'], ['gold', '90000000', 'Ann', 'x', ' '])).toEqual({
      firstName: 'Ann',
      addresses: { msisdn: '+6590000000' },
      customAttributes: { tier: 'gold' },
    });
  });

  it('take no column as an attribute that the job omits or reads groups from', () => {
    const rest = { except: ['Notes'], rename: { tier: 'level' } };
    const step = { customAttributes: { rest }, groups: [7], groupsColumn: 'Teams' } as const;
    const columns = ['mobile', 'tier', 'notes', 'teams', 'town'];
    expect(bodyOf(step, columns, ['90000000', 'gold', 'x', '1042; 7', 'Jurong'])).toEqual({
      groups: [{ id: 7 }, { id: 1042 }],
      addresses: { msisdn: '+6590000000' },
      customAttributes: { level: 'gold', town: 'Jurong' },
    });
    expect(bodyOf(step, columns, ['90000000', '', '', ' ', undefined]).groups).toEqual([{ id: 7 }]);
    expect(bodyOf({ ...step, groups: [] }, columns, ['90000000'])).not.toHaveProperty('groups');
  });

  it('name every column that is not there, with the key of the job and the columns there are', () => {
    const step = {
      fields: { msisdn: 'handy', email: 'mail' },
      customAttributes: { level: 'tier' },
      input: anInput({ countryColumn: 'land' }),
    };
    const columns = new Columns(['mobile', 'name']);
    contactsKind.bind(aContactsStep(step), columns);
    expect(columns.problems.map(({ message }) => /^(\S+: no column matches '\w+')/.exec(message)?.[1])).toEqual([
      "fields.msisdn: no column matches 'handy'",
      "fields.email: no column matches 'mail'",
      "input.countryColumn: no column matches 'land'",
      "customAttributes.level: no column matches 'tier'",
    ]);
    for (const { message } of columns.problems) expect(message).toContain('columns: mobile, name');
  });

  it('show a person which field has which value, and of an address no more than its kind', () => {
    const fields = { msisdn: 'mobile', firstName: 'name' };
    expect(plan({ fields }, ['mobile', 'name'], ['90000000', 'Ann'])).toMatchObject({
      preview: { text: 'firstName → Ann, msisdn → +65******00' },
    });
  });
});
