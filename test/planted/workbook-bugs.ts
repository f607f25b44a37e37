import type { PlantedBug } from './planted-bug.js';

export const WORKBOOK_BUGS: readonly PlantedBug[] = [
  {
    name: 'cells of a workbook behind one that a row lacks move to the left',
    file: 'src/input/xlsx/sheet-rows.ts',
    find: "    while (cells.length < column) cells.push('');\n",
    replace: '',
    tests: ['test/input/xlsx/xlsx-reader.test.ts'],
  },
  {
    name: 'a number of a workbook loses the digits that its format hides',
    file: 'src/input/xlsx/workbook.ts',
    find: "return shown === '' || hidesDigits ? full : shown;",
    replace: "return shown === '' ? full : shown;",
    tests: ['test/input/xlsx/workbook.test.ts'],
  },
  {
    name: 'a formula of a workbook without a stored value is a blank cell',
    file: 'src/input/xlsx/sheet-rows.ts',
    find: '      if (cell.hasFormula) this.#row.fault ??= { column: cell.column, error: undefined };\n',
    replace: '',
    tests: ['test/input/xlsx/xlsx-reader.test.ts'],
  },
  {
    name: 'a part of a workbook is read whatever its checksum',
    file: 'src/input/xlsx/archive.ts',
    find: 'if (checksum !== entry.crc32)',
    replace: 'if (checksum !== checksum)',
    tests: ['test/input/xlsx/xlsx-reader.test.ts'],
  },
];
