import { type ByteSource, readContent, takeHead } from './byte-source.js';
import { createDecoder, createUtf8Decoder } from './decoder.js';
import { chooseEncoding } from './encoding.js';

/** Enough for thousands of rows. */
const HEAD_BYTES = 1024 * 1024;
/**
 * What the languages of western Europe write beyond ASCII, and currency and quotes of their office programs. Not some rarer
 * letters, whose bytes are common ones of Czech or Polish in windows-1250; nor an ø with accents, which is a Czech ř.
 */
const WESTERN = /^[äöüÄÖÜßàâáãåæçèéêëíîñóôõøúûÀÂÁÃÅÆÇÉÊËÍÎÑÓÔÕØÚÛ€§°´’‘“”„–…·ºª«»¡]$/;
/** An ø and an accent in one word, or in a text that is not a German or Swedish one with a Søren and a María among its names. */
function isCzech(text: string): boolean {
  if (!/[øØ]/.test(text) || !/[áíèýú]/.test(text)) return false;
  const doubtful = text.match(/[øØáíèýúìùò]/g)?.length ?? 0;
  const umlauts = text.match(/[äöüÄÖÜß]/g)?.length ?? 0;
  if (umlauts < doubtful) return true;
  return text.match(/\p{L}+/gu)?.some((word) => /[øØ]/.test(word) && /[áíèýú]/.test(word)) === true;
}

/**
 * Windows-1252 for a file that can be nothing else but a spreadsheet's in a language of western Europe; undefined for
 * UTF-8, for a file with a byte order mark, and where it is unclear. To be written into a job, where a person sees it: no
 * reader guesses. In encodings with two bytes a character, and in Cyrillic ones, the bytes beyond ASCII stand in a row.
 */
export async function guessEncoding(source: ByteSource): Promise<'windows-1252' | undefined> {
  const content = readContent(source);
  const head = (await takeHead(content, ({ length }) => length >= HEAD_BYTES)).subarray(0, HEAD_BYTES);
  await content.return(undefined);
  const { name, markBytes } = chooseEncoding(head.subarray(0, 4), undefined, source.shown);
  if (markBytes > 0 || name !== 'utf-8' || createUtf8Decoder().decode(head) !== undefined) return undefined;
  const decoder = await createDecoder({ name: 'windows-1252', markBytes: 0, notice: undefined });
  const text = decoder.decode(head)?.toString('utf8');
  if (text === undefined) return undefined;
  const beyond = text.match(/[^\0-\x7f]/g) ?? [];
  const isWestern = beyond.every((character) => WESTERN.test(character)) && !isCzech(text);
  const alone = text.match(/(?<![^\0-\x7f])[^\0-\x7f](?![^\0-\x7f])/g) ?? [];
  return isWestern && alone.length >= 0.9 * beyond.length ? 'windows-1252' : undefined;
}
