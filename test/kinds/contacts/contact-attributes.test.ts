import { describe, expect, it } from 'vitest';
import type { ContactsStep } from '../../../src/job/job.js';
import { bindAttributes } from '../../../src/kinds/contacts.js';
import { Columns } from '../../../src/normalize/columns.js';

const COLUMNS = ['id', 'Mobile', 'tier', 'First Name', '', 'notes', '_umid'];

function bind(attributes: ContactsStep['customAttributes'], taken: number[] = [1]) {
  const of = new Columns(COLUMNS);
  const bound = bindAttributes(attributes, of, new Set(taken));
  return { attributes: bound.map(({ name, index }) => `${name} = ${COLUMNS[index]}`), problems: of.problems };
}

const rest = ({ except = [], rename = {} }: { except?: string[]; rename?: Record<string, string> }) => ({
  rest: { except, rename },
});

describe('attributes of a contact', () => {
  it('are the rest of the columns under their own names, without those that have none and those of the service', () => {
    const attributes = ['id = id', 'tier = tier', 'First Name = First Name', 'notes = notes'];
    expect(bind(rest({}))).toEqual({ attributes, problems: [] });
  });

  it('leave out the columns of except, and have the names of rename, in whatever writing', () => {
    expect(bind(rest({ except: ['Notes', 'id'], rename: { first_name: 'given', _umid: 'last message' } }))).toEqual({
      attributes: ['tier = tier', 'given = First Name', 'last message = _umid'],
      problems: [],
    });
  });

  it('may swap names, and take one that a column had which is left out', () => {
    const expected = ['tier = id', 'id = tier'];
    expect(bind(rest({ rename: { id: 'tier', tier: 'id' } })).attributes.slice(0, 2)).toEqual(expected);
    expect(bind(rest({ except: ['notes'], rename: { tier: 'notes' } })).problems).toEqual([]);
  });

  it('name every column that is not there, so that a slip takes nothing along that was to stay', () => {
    const { problems } = bind(rest({ except: ['note'], rename: { level: 'tier' } }));
    expect(problems.map(({ message }) => /^(\S+: no column matches '\w+')/.exec(message)?.[1])).toEqual([
      "customAttributes.rest.except: no column matches 'note'",
      "customAttributes.rest.rename: no column matches 'level'",
    ]);
  });

  it.each([
    [{ rename: { tier: 'notes' } }, [1], 'the columns "tier" and "notes" would both become the attribute "notes"'],
    [{ except: ['tier'], rename: { tier: 'level' } }, [1], 'renames the column "tier" in'],
    [{ rename: { mobile: 'number' } }, [1, -1], 'renames the column "Mobile" in'],
    [{ rename: { 'First Name': 'a', first_name: 'b' } }, [1], 'renames the column "First Name" twice'],
  ])('refuse what would lose a value or have no effect: %j', (written, taken, message) => {
    const { problems } = bind(rest(written as Parameters<typeof rest>[0]), taken);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toContain(message);
  });
});
