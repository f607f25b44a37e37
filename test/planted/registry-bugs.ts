import type { PlantedBug } from './planted-bug.js';

export const REGISTRY_BUGS: readonly PlantedBug[] = [
  {
    name: 'a file that was saved anew is another one',
    file: 'src/plan/plan-step.ts',
    find: '        this.#digest.addRow(record, reader.columns.length);\n',
    replace: '        this.#digest.addRow({ cells: [String(Math.random())] }, 1);\n',
    tests: ['test/e2e/taken-once.test.ts'],
  },
  {
    name: 'the first time has two names',
    file: 'src/plan/occurrence.ts',
    find: "  return occurrence === FIRST ? '' : occurrence;",
    replace: '  return occurrence;',
    tests: ['test/registry/registry-state.property.test.ts'],
  },
  {
    name: 'a copy that got the inode of one that is gone is taken for it',
    file: 'src/storage/identity.ts',
    find: '  if (one.bornMs !== 0 && other.bornMs !== 0) return one.bornMs === other.bornMs;\n',
    replace: '',
    tests: ['test/storage/identity.test.ts'],
  },
  {
    name: 'an older copy of the registry is not noticed',
    file: 'src/registry/find-faults.ts',
    find: '  if (own.bytes >= knownBytes) return [];',
    replace: '  if (own.bytes >= 0 * knownBytes) return [];',
    tests: ['test/registry/open-registry.test.ts'],
  },
  {
    name: 'the lock is looked at before the journal, and not after it',
    file: 'src/registry/watch-journal.ts',
    find: '      const found = await files.stat(path);\n      await lock.assertHeld();\n',
    replace: '      await lock.assertHeld();\n      const found = await files.stat(path);\n',
    tests: ['test/registry/watch-journal.test.ts'],
  },
  {
    name: 'a re-import begins without a claim',
    file: 'src/registry/registry.ts',
    find: '    if (entries.length > 0) await this.append(...entries);\n',
    replace: '    void entries;\n',
    tests: ['test/e2e/rows-stay-owned.test.ts'],
  },
  {
    name: 'a refused row is claimed by its id alone, and free under that of another plan',
    file: 'src/registry/describe-claims.ts',
    find: '    for (const name of names) rows.add(kind, name);\n',
    replace: '    for (const name of names.slice(0, 1)) rows.add(kind, name);\n',
    tests: ['test/e2e/rows-stay-owned.test.ts'],
  },
  {
    name: 'a line that a power cut took makes a copy of the file',
    file: 'src/registry/find-faults.ts',
    find: 'Math.max(lastAt, lock.lastRenewedAt ?? 0)',
    replace: 'lastAt',
    tests: ['test/walk/power-cut-later.test.ts'],
  },
];
