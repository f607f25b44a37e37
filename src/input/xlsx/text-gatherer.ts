const ESCAPE = /_x([0-9a-f]{4})_/gi;

/**
 * The text of a shared or an inline string: that of its runs, one after the other, without their formats and without the
 * readings of Japanese words (`rPh`). To be shown each tag within the string.
 */
export class TextGatherer {
  #text = '';
  #isInText = false;
  #isInReading = false;

  open(name: string): void {
    if (name === 't') this.#isInText = !this.#isInReading;
    else if (name === 'rPh') this.#isInReading = true;
  }

  add(text: string): void {
    if (this.#isInText) this.#text += text;
  }

  close(name: string): void {
    if (name === 't') this.#isInText = false;
    else if (name === 'rPh') this.#isInReading = false;
  }

  take(): string {
    const text = this.#text;
    this.#text = '';
    return decodeEscapes(text);
  }
}

/** What XML cannot hold, or would change, is written as `_x000D_`; and `_x005F_` is an underscore before such. */
export function decodeEscapes(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(ESCAPE, (whole, code: string) =>
    code === '0000' ? whole : String.fromCharCode(parseInt(code, 16)),
  );
}
