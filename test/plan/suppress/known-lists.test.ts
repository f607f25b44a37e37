import { expect, test } from 'vitest';
import { createColumn, KnownLists } from '../../../src/plan/suppress/suppression-columns.js';

const aList = (numbers: number) => [createColumn('mobile', new Array<number>(numbers).fill(1))];

test('lists are known as long as all have six million numbers at most; then they are forgotten', () => {
  const known = new KnownLists();
  const found = () => ['one', 'two', 'three', 'large'].map((key) => known.find(key)?.length);
  known.add('one', aList(2_000_000));
  known.add('two', aList(4_000_000));
  expect(found()).toEqual([1, 1, undefined, undefined]);
  known.add('three', aList(1));
  expect(found()).toEqual([undefined, undefined, 1, undefined]);
  known.add('large', aList(6_000_001));
  expect(found()).toEqual([undefined, undefined, undefined, undefined]);
});
