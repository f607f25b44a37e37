import type { PlantedBug } from './planted-bug.js';

const SIMULATION = 'test/simulation/simulation.long.test.ts';

/** Of the journal, the lock, and the disk below them. */
export const JOURNAL_BUGS: readonly PlantedBug[] = [
  {
    name: 'the journal is not synced',
    file: 'src/journal/writer.ts',
    find: '    await file.sync();\n    durable',
    replace: '    durable',
    tests: [SIMULATION],
  },
  {
    name: 'a line is lost that stands behind a piece of another',
    file: 'src/journal/entry-format.ts',
    find: 'skipped > 0 ? decodeLine(',
    replace: 'skipped < 0 ? decodeLine(',
    tests: ['test/journal/reader.test.ts'],
  },
  {
    name: 'a snapshot is trusted wherever it stands',
    file: 'src/journal/reader.ts',
    find: ' || line.entry.offset !== offset',
    replace: '',
    tests: ['test/journal/state-reader.test.ts'],
  },
  {
    name: 'a snapshot is trusted that the next runner did not read',
    file: 'src/journal/reader.ts',
    find: 'if (runners.some(({ firstSeq }) => firstSeq <= start.lastSeq)) continue;',
    replace: '',
    tests: ['test/journal/state-reader.test.ts'],
  },
  {
    name: 'a snapshot knows the lines behind it',
    file: 'src/journal/writer.ts',
    find: '    const entries = [...group];\n',
    replace: '    const entries = [...group];\n    for (const entry of group) state?.apply(entry);\n',
    tests: [SIMULATION],
  },
  {
    name: 'the checksum of a journal line is not looked at',
    file: 'src/journal/entry-format.ts',
    find: "head === '' || Number.parseInt(crc, 16) !== crc32(bytes.subarray(BODY_START))",
    replace: "void crc, head === ''",
    tests: ['test/journal'],
  },
  {
    name: 'what was begun is remembered by its highest number',
    file: 'src/journal/replay.ts',
    find: '  progress.begunAhead.set(request, endOffset);\n',
    replace:
      '  progress.begunAhead.clear();\n  progress.nextRequest = request;\n  progress.begunAhead.set(request, endOffset);\n',
    tests: ['test/journal/replay.test.ts', 'test/journal/replay.property.test.ts'],
  },
  {
    name: 'a batch that is halved loses its last row',
    file: 'src/journal/replay.ts',
    find: 'rows: [first + firstCount, count - firstCount]',
    replace: 'rows: [first + firstCount, count - firstCount - (count > 3 ? 1 : 0)]',
    tests: ['test/run/bisection.test.ts', 'test/journal'],
  },
  {
    name: 'the lock is not asked for before a request',
    file: 'src/storage/lock.ts',
    find: '    if (!(await (isWriting ? isHighest() : isStanding()))) await lose();\n',
    replace: '    void isStanding;\n',
    tests: ['test/storage/lock.test.ts'],
  },
  {
    name: 'a runner that was ousted twice is not told',
    file: 'src/storage/lock.ts',
    find: 'return mine !== undefined && other === undefined;',
    replace: 'void mine;\n    return other === undefined;',
    tests: ['test/run/lock-ousted.test.ts'],
  },
  {
    name: 'lines of an older epoch count',
    file: 'src/journal/reader.ts',
    find: '(line.epoch < end.lastEpoch || isUnread(line))',
    replace: 'line.epoch < 0',
    tests: ['test/journal'],
    title:
      'the state of a run is read from an earlier snapshot where the last is of a runner that the next one did not read any more',
  },
  {
    name: 'lines that the next runner had not read count',
    file: 'src/journal/reader.ts',
    find: '(line.epoch < end.lastEpoch || isUnread(line))',
    replace: 'line.epoch < end.lastEpoch',
    tests: ['test/journal'],
    title:
      'the state of a run is read from an earlier snapshot where the last is of a runner that the next one did not read any more',
  },
  {
    name: 'the directory of a renamed file is not synced',
    file: 'src/storage/files.ts',
    find: '    await raw.rename(from, to);\n    await syncDirectory(dirname(to));\n',
    replace: '    await raw.rename(from, to);\n',
    tests: ['test/storage/files.test.ts', SIMULATION],
  },
  {
    name: 'the name of a new journal is not synced',
    file: 'src/storage/files.ts',
    find: '        await syncDirectory(dirname(path));\n        return appendFile(',
    replace: '        return appendFile(',
    tests: ['test/storage/files.test.ts', SIMULATION],
  },
];
