/** Names of code pages that people know and the WHATWG's labels lack; and one that Node's own decoder lacks. */
const MORE_LABELS: Readonly<Record<string, string>> = {
  cp874: 'windows-874',
  cp932: 'shift_jis',
  cp936: 'gbk',
  cp949: 'euc-kr',
  uhc: 'euc-kr',
  cp950: 'big5',
  big5hkscs: 'big5',
  'iso-8859-16': 'iso-8859-16',
};

/** Encodings whose decoders refuse, or show, every byte that means nothing in them (iso-2022-jp changes its meaning midway). */
const READABLE =
  /^(utf-(8|16le|16be)|windows-(874|125[0-8])|iso-8859-([2-8]|8-i|1[03456])|koi8-[ru]|ibm866|macintosh|x-mac-cyrillic|shift_jis|euc-jp|gbk|gb18030|big5|euc-kr)$/;

/** The WHATWG name, lower case, of the encoding that a label means; undefined where it is unknown or cannot be read strictly. */
export function findEncodingName(label: string): string | undefined {
  const wanted = label.trim().toLowerCase();
  const name = MORE_LABELS[wanted] ?? labelToName(wanted);
  return name !== undefined && READABLE.test(name) ? name : undefined;
}

function labelToName(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}
