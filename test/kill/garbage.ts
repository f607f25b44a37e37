import type { Random } from '../../src/sandbox/random.js';
import { pick } from './job.js';

/** What may stand behind a journal whose process died, by what left it there. */
const KINDS = {
  'half a line': (lines, random) => {
    const line = lines[pick(random, lines.length)] ?? Buffer.alloc(0);
    return line.subarray(0, 1 + pick(random, line.length - 1));
  },
  'a line of another checksum': (lines, random) => {
    const line = Buffer.from(lines[pick(random, lines.length)] ?? '');
    const at = 20 + pick(random, line.length - 21);
    line[at] = (line[at] ?? 0) ^ 1;
    return Buffer.concat([line, NEWLINE]);
  },
  'an old line once more': (lines, random) => Buffer.concat([lines[pick(random, lines.length)] ?? NEWLINE, NEWLINE]),
  'a page of zeros': () => Buffer.alloc(4096),
  'random bytes': (_, random) => randomBytes(1 + pick(random, 3000), random),
  'random bytes and a newline': (_, random) => Buffer.concat([randomBytes(1 + pick(random, 300), random), NEWLINE]),
  'words of another program': () => Buffer.from('fsck: 17 blocks recovered\r\n\r\n{"crc":"\n{}\n[]\nnull\n'),
  'a line without an end': () => Buffer.from(`{"crc":"0bad0bad","epoch":1,"seq":${'9'.repeat(200_000)}`),
  'half a character': () => Buffer.from([0x7b, 0x22, 0xf0, 0x9f, 0x98]),
} satisfies Record<string, (lines: readonly Buffer[], random: Random) => Buffer>;

const NEWLINE = Buffer.from('\n');

/** For the end of a journal of at least one line. */
export function createGarbage(journal: Buffer, { isFinished }: { isFinished: boolean }, random: Random): Buffer {
  const lines = journal.toString('latin1').split('\n').slice(0, -1);
  const whole = lines.filter((line) => line.startsWith('{"crc":"')).map((line) => Buffer.from(line, 'latin1'));
  // Whether a run is finished is read from the last good line alone: its outputs would be written again each time.
  const kinds = Object.entries(KINDS).filter(([kind]) => !isFinished || kind !== 'an old line once more');
  const [, create] = kinds[pick(random, kinds.length)] ?? [];
  return create?.(whole, random) ?? Buffer.alloc(0);
}

function randomBytes(count: number, random: Random): Buffer {
  return Buffer.from(Array.from({ length: count }, () => pick(random, 256)));
}
