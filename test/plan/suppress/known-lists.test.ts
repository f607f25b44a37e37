import { expect, test } from 'vitest';
import { KnownLists } from '../../../src/plan/suppress/known-lists.js';

const aList = (numbers: number) => [
  {
    ...{ name: 'mobile', international: new Array<number>(numbers).fill(1), national: [], otherReadings: [] },
    ...{ marked: 0, unreadable: 0, damaged: 0, withoutCountry: 0, places: [] },
  },
];

test('of lists that are known those stay that were used last, as long as all have six million numbers at most', () => {
  const known = new KnownLists();
  for (const key of ['one', 'two', 'three']) known.add(key, aList(2_000_000));
  known.find('one');
  known.add('four', aList(1));
  expect(['one', 'two', 'three', 'four'].map((key) => known.find(key)?.length)).toEqual([1, undefined, 1, 1]);
  known.add('large', aList(6_000_001));
  expect(['one', 'four', 'large'].map((key) => known.find(key))).toEqual([undefined, undefined, undefined]);
});
