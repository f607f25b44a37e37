import type { PlantedBug } from './planted-bug.js';

export const PLANNING_BUGS: readonly PlantedBug[] = [
  {
    name: 'a number that stands twice is sent to twice',
    file: 'src/kinds/sms/sms-planner.ts',
    find: "const kept = step.duplicates === 'skip' ?",
    replace: "const kept = step.duplicates !== 'skip' ?",
    tests: ['test/plan/duplicates.test.ts'],
  },
  {
    name: 'a message of two parts is counted as one',
    file: 'src/template/byte-text.ts',
    find: 'total.septets <= GSM7_SINGLE ?',
    replace: 'total.septets <= GSM7_SINGLE + 1 ?',
    tests: ['test/template/byte-text.test.ts'],
  },
  {
    name: 'a row with too few fields is taken as it is',
    file: 'src/domain/bytes/row-writer.ts',
    find: 'if (this.#cells !== this.width) return false;',
    replace: 'if (this.#cells > this.width) return false;',
    tests: ['test/input/csv/csv-reader.test.ts'],
  },
  {
    name: 'a carrier code is taken for a part of the prefix',
    file: 'src/normalize/number/national-prefix.ts',
    find: 'if (start.isOnly && !this.#hasGroups)',
    replace: 'if (start.isOnly)',
    tests: ['test/normalize/number/digit-pattern.test.ts'],
  },
  {
    name: 'a draft is replaced though it was begun while the planner was paused',
    file: 'src/plan/replace-draft.ts',
    find: '    await assertNotBegun(files, directory);\n  } catch',
    replace: '  } catch',
    tests: ['test/plan/replace-draft.test.ts'],
  },
  {
    name: 'a plain file of a plan is removed before the packed one is whole',
    file: 'src/plan/format/plan-packer.ts',
    find: 'of (await this.#packing) ?? []) {',
    replace: 'of (await this.#listPlain()).map((file) => file.path)) {',
    tests: ['test/plan/format/plan-packer.test.ts'],
  },
  {
    name: 'a packed file is not read back before the plain one is removed',
    file: 'src/plan/format/plan-packer.ts',
    find: '    yield* read(packed);\n',
    replace: '    void read;\n',
    tests: ['test/plan/format/plan-packer.test.ts'],
  },
];
