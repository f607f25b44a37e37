import fc from 'fast-check';
import { expect, it } from 'vitest';
import { numberRepeated } from '../../src/input/header.js';

it('numberRepeated leaves each name once, those that stood once as they are, and the nameless nameless', () => {
  const aName = fc.constantFrom('', 'a', 'A', 'b', 'a (1)', 'a (2)', 'a (1) (1)');
  const property = fc.property(fc.array(aName), (names) => {
    const { names: numbered, notices } = numberRepeated(names);
    const named = numbered.filter((name) => name !== '');
    expect(new Set(named).size).toBe(named.length);
    for (const [index, name] of names.entries()) {
      const isOnce = name === '' || names.indexOf(name) === names.lastIndexOf(name);
      expect(numbered[index]).toMatch(isOnce ? name : `${name} (`);
      if (isOnce) expect(numbered[index]).toBe(name);
    }
    expect(notices).toHaveLength(new Set(names.filter((name, index) => name && names.indexOf(name) !== index)).size);
  });
  fc.assert(property);
});
