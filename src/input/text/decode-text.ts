import { isAscii } from 'node:buffer';
import { CR, LF } from '../../domain/bytes/text-buffer.js';
import { exceedsBytes } from '../../domain/text.js';
import { placeInJob } from '../inputs.js';
import { refuse } from '../record-reader.js';
import { type ByteSource, type Digest, prepend, readContent, takeHead } from './byte-source.js';
import { chooseEncoding, createDecoder, createUtf8Decoder, type Encoding } from './encoding.js';

/** Longest byte order mark. */
const MARK_BYTES = 4;

/** Names of results and rejections in NDJSON, which are empty where they have no row. */
const MAY_BE_EMPTY = /(?:^|\/)\d+-[a-z.]+\.(?:results|rejections)\.ndjson$/;

/**
 * The text of a file as UTF-8, without its mark. `onNotice` receives what decided the encoding. Refuses an empty file,
 * bytes that are no text in the encoding, and NULs, each with its line.
 */
export async function* decodeText(
  source: ByteSource,
  options: { encoding: string | undefined; digest: Digest; onNotice: (notice: string) => void },
): AsyncGenerator<Buffer> {
  const content = readContent(source, options.digest);
  try {
    const head = await takeHead(content, ({ length }) => length >= MARK_BYTES);
    if (head.length === 0 && !MAY_BE_EMPTY.test(source.shown)) {
      throw refuse({ where: source.shown, message: 'the file is empty, expected rows' });
    }
    const encoding = chooseEncoding(head, options.encoding, source.shown);
    if (encoding.notice !== undefined) options.onNotice(encoding.notice);
    const decoder = await createDecoder(encoding);
    const watch = createUtf8Watch(encoding);
    let offset = 0;
    for await (const piece of prepend(head, content)) {
      const text = decoder.decode(offset === 0 ? piece.subarray(encoding.markBytes) : piece);
      if (text === undefined) throw await refuseBytes(source, encoding, offset);
      watch.look(piece);
      if (text.length > 0) yield text;
      offset += piece.length;
    }
    const rest = decoder.finish();
    if (rest === undefined) throw await refuseBytes(source, encoding, offset);
    if (rest.length > 0) yield rest;
    if (watch.isUtf8())
      options.onNotice(`the job states ${encoding.name}, but the whole file is valid UTF-8: check its text`);
  } finally {
    await content.return(undefined);
  }
}

const OWN_HEAD_BYTES = 64 * 1024;

/** What is found at the beginning of a file, by its bytes, if all of it is UTF-8; undefined otherwise. A file in which nothing is found is read no further. */
export async function findInUtf8<Found>(
  source: ByteSource,
  find: (head: string) => Found | undefined,
): Promise<Found | undefined> {
  const decoder = createUtf8Decoder();
  let head = '';
  let isKnown = false;
  for await (const piece of readContent(source)) {
    if (!isKnown) {
      head += piece.toString('latin1', 0, OWN_HEAD_BYTES);
      isKnown = head.length >= OWN_HEAD_BYTES;
      if (isKnown && find(head) === undefined) return undefined;
    }
    if (decoder.decode(piece) === undefined) return undefined;
  }
  return decoder.finish() === undefined ? undefined : find(head);
}

/** Almost no text in another encoding is UTF-8 by chance, and read as that encoding UTF-8 is garbage that nothing refuses. */
function createUtf8Watch({ name }: Encoding): { look(piece: Buffer): void; isUtf8(): boolean } {
  const decoder = createUtf8Decoder();
  let mayBe = !name.startsWith('utf-');
  let hasMore = false;
  return {
    look: (piece) => {
      if (!mayBe) return;
      hasMore ||= !isAscii(piece);
      mayBe = decoder.decode(piece) !== undefined;
    },
    isUtf8: () => mayBe && hasMore && decoder.finish() !== undefined,
  };
}

/** Reads the file again to say where: whole pieces up to `from`, then byte by byte. */
async function refuseBytes(source: ByteSource, encoding: Encoding, from: number) {
  const decoder = await createDecoder(encoding);
  const lines: LineCount = { line: 1, wasCr: false };
  /** First byte of the character that is not complete yet. */
  let begun: BadByte | undefined;
  let offset = 0;
  for await (const piece of readContent(source)) {
    const skipped = Math.min(piece.length, Math.max(0, encoding.markBytes - offset));
    const whole = Math.max(skipped, Math.min(piece.length, from - offset));
    countLines(lines, decoder.decode(piece.subarray(skipped, whole)) ?? Buffer.alloc(0));
    for (let index = whole; index < piece.length; index += 1) {
      const byte = piece.readUInt8(index);
      const text = decoder.decode(piece.subarray(index, index + 1));
      const isNul = byte === 0 && !encoding.name.startsWith('utf-16');
      const bad = begun === undefined || isNul ? { byte, at: offset + index } : begun;
      if (text === undefined)
        return describeBadByte(bad, encoding.name, { ...source, shown: `${source.shown}:${lines.line}` });
      begun = text.length === 0 ? bad : undefined;
      countLines(lines, text);
    }
    offset += piece.length;
  }
  return refuse({
    where: `${source.shown}:${lines.line}`,
    message: `the file ends in the middle of a character of ${encoding.name}, expected a whole file`,
    hint: `Fetch the file again, or state its \`encoding\` ${placeInJob(source)}.`,
  });
}

interface BadByte {
  readonly byte: number;
  /** Offset in the content, from 0. */
  readonly at: number;
}

function describeBadByte({ byte, at }: BadByte, encoding: string, place: Pick<ByteSource, 'shown' | 'key'>) {
  const { shown: where } = place;
  const inJob = placeInJob(place);
  if (byte === 0 && !encoding.startsWith('utf-16')) {
    return refuse({
      where,
      message: `byte ${at} is NUL, expected text: the file is UTF-16 without a byte order mark, or not text`,
      hint: `If it is UTF-16, state \`encoding: ${at % 2 === 0 ? 'utf-16be' : 'utf-16le'}\` ${inJob}; else save it as UTF-8.`,
    });
  }
  // As windows-1252 any bytes are text, so it is no advice where another encoding is known.
  const hint =
    encoding === 'utf-8'
      ? `Spreadsheets often write windows-1252: say so by \`encoding: windows-1252\` ${inJob}; for volley init, by --encoding windows-1252. Or save the file as UTF-8.`
      : `Save the file as UTF-8; or state its \`encoding\` ${inJob} if that is another.`;
  const shown = byte.toString(16).toUpperCase().padStart(2, '0');
  return refuse({
    where,
    message: `invalid ${encoding} at byte ${at} (0x${shown}), expected text in that encoding`,
    hint,
  });
}

/**
 * The lines of a text, those of a piece at a time, without their ends (LF or CRLF); the last needs no end.
 * Refuses a line of more than `maxLineBytes`. Memory is bounded by one piece and one line.
 */
export async function* splitTextLines(
  pieces: AsyncIterable<Buffer>,
  { shown, maxLineBytes }: { shown: string; maxLineBytes: number },
): AsyncGenerator<string[]> {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  let linesBefore = 0;
  const check = (lines: string[]) => {
    const index = lines.findIndex((line) => exceedsBytes(line, maxLineBytes));
    if (index !== -1) throw refuseLongLine(`${shown}:${linesBefore + index + 1}`, maxLineBytes);
    linesBefore += lines.length;
    return lines;
  };
  for await (const piece of pieces) {
    const end = piece.lastIndexOf(LF);
    if (end !== -1) {
      const text = Buffer.concat([...begun, piece.subarray(0, end)]).toString('utf8');
      yield check(text.split('\n').map(stripCr));
      begun = [];
      begunBytes = 0;
    }
    begun.push(piece.subarray(end + 1));
    begunBytes += piece.length - end - 1;
    if (begunBytes > maxLineBytes + 1) throw refuseLongLine(`${shown}:${linesBefore + 1}`, maxLineBytes);
  }
  if (begunBytes > 0) yield check([stripCr(Buffer.concat(begun).toString('utf8'))]);
}

function stripCr(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

function refuseLongLine(where: string, maxLineBytes: number) {
  return refuse({
    where,
    message: `the line is too long, expected at most ${maxLineBytes} bytes`,
    hint: 'Each line must hold one object; if the line is right, raise limits.maxLineBytes where the job names the file.',
  });
}

/** The line, from 1, that the next byte stands on. */
interface LineCount {
  line: number;
  wasCr: boolean;
}

/** Counts on over a piece of UTF-8 as an editor does: CRLF, LF and CR each end one line. */
export function countLines(count: LineCount, piece: Uint8Array): void {
  for (const byte of piece) {
    if (byte === CR || (byte === LF && !count.wasCr)) count.line += 1;
    count.wasCr = byte === CR;
  }
}

/** Line ends within a text: a CRLF is one. */
export function countLineEnds(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}
