import { describe, expect, test } from 'vitest';
import { followRows, keyOfRow, type RejectionList } from '../../src/console/rejections.js';
import type { RejectedRow } from '../../src/retry/left-rows.js';

const LIST = { columns: ['name', 'mobile'] } as unknown as RejectionList;
const aRow = (name: string) => ({ name, cells: [name, 'n/a'] }) as unknown as RejectedRow;
const [ANN, BEN, CY] = ['ann', 'ben', 'cy'].map(aRow) as [RejectedRow, RejectedRow, RejectedRow];

describe('a cell that was changed', () => {
  const form = { 'row-0': keyOfRow(ANN, LIST), 'row-1': keyOfRow(BEN, LIST), plan: 'p1' };
  const change = { 'cell-1-1': '+6591000001', 'was-cell-1-1': 'n/a' };

  test('stays where it is as long as its row does', () => {
    const { fields, lost } = followRows({ ...form, ...change }, { list: LIST, rows: [ANN, BEN], from: 0 });
    expect([fields, lost]).toEqual([expect.objectContaining(change), []]);
  });

  test('goes with its row, and to no other that says the same, where others stand before it now', () => {
    const { fields, lost } = followRows({ ...form, ...change }, { list: LIST, rows: [CY, ANN, BEN], from: 50 });
    expect(fields).toMatchObject({ 'cell-52-1': '+6591000001', 'was-cell-52-1': 'n/a', plan: 'p1' });
    expect([Object.keys(fields).filter((field) => field.startsWith('cell-')), lost]).toEqual([['cell-52-1'], []]);
  });

  test.each([
    ['its row is not on the page any more', { list: LIST, rows: [ANN, CY], from: 0 }],
    ['its columns are others', { list: { ...LIST, columns: ['mobile', 'name'] }, rows: [ANN, BEN], from: 0 }],
  ])('is named, and not taken, where %s', (_why, page) => {
    const { fields, lost } = followRows({ ...form, ...change }, page);
    expect(Object.keys(fields).filter((field) => field.includes('cell-'))).toEqual([]);
    expect(lost).toEqual([{ message: expect.stringContaining('1 cell that you changed'), status: 409 }]);
  });

  test('is the only one that is named', () => {
    const same = { 'cell-1-1': 'n/a', 'was-cell-1-1': 'n/a' };
    expect(followRows({ ...form, ...same }, { list: LIST, rows: [CY], from: 0 }).lost).toEqual([]);
  });
});
