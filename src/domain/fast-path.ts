/**
 * What is done twice: by the libraries, and for most rows without them, in a fraction of the time. The plans are the same byte for
 * byte, which a test shows. This line switches all of it off.
 */
const IS_ON: boolean = true;

/** Large CSV files are read and drafted in a thread (input/fast/). Off: where they are planned, from the same blocks. */
export const HAS_THREAD = IS_ON;
/** Rows without anything that CSV must interpret are cut as bytes (input/fast/). Off: csv-parse reads all. */
export const CUTS_PLAIN_ROWS = IS_ON;
/** Plain numbers are read from bytes (normalize/number/number-fast.ts). Off: libphonenumber-js reads all. */
export const READS_PLAIN_NUMBERS = IS_ON;
/** Plain texts are written and counted as bytes (template/byte-text.ts). Off: as strings. */
export const WRITES_BYTE_TEXTS = IS_ON;
