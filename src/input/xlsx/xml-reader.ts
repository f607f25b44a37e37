import { SaxesParser } from 'saxes';
import type { UserError } from '../../domain/errors.js';
import { refuseDamaged } from './archive.js';

/** Names come without their prefix: producers choose it. */
export interface XmlHandlers {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  text(text: string): void;
  close(name: string): void;
}

/** What a spreadsheet program nests, and more. */
const MAX_DEPTH = 50;

/**
 * Reads one part of a workbook, piece by piece. Refuses what is not well-formed or not UTF-8, and a document type, which no
 * workbook has: so there is no entity to expand. Memory is bounded by `maxBytes` of text between two tags, or of one tag.
 */
export class XmlReader {
  readonly #shown: string;
  readonly #part: string;
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #parser = new SaxesParser({ xmlns: false, position: false });
  #depth = 0;
  #openBytes = 0;
  #hasEvent = false;

  constructor(handlers: XmlHandlers, { shown, part, maxBytes }: { shown: string; part: string; maxBytes: number }) {
    this.#shown = shown;
    this.#part = part;
    this.#maxBytes = maxBytes;
    const parser = this.#parser;
    parser.on('error', (error) => {
      throw this.#refuse(error.message);
    });
    parser.on('doctype', () => {
      throw this.#refuse('it has a document type');
    });
    parser.on('xmldecl', ({ encoding }) => {
      if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) throw this.#refuse(`it is ${encoding}, not UTF-8`);
    });
    parser.on('opentag', ({ name, attributes }) => {
      this.#depth += 1;
      if (this.#depth > MAX_DEPTH) throw this.#refuse('its tags are nested too deeply');
      handlers.open(withoutPrefix(name), attributes);
    });
    parser.on('text', (text) => handlers.text(text));
    parser.on('cdata', (text) => handlers.text(text));
    parser.on('closetag', ({ name }) => {
      this.#depth -= 1;
      this.#hasEvent = true;
      handlers.close(withoutPrefix(name));
    });
  }

  write(piece: Buffer): void {
    this.#hasEvent = false;
    this.#parser.write(this.#decode(piece));
    this.#openBytes = this.#hasEvent ? 0 : this.#openBytes + piece.length;
    if (this.#openBytes > this.#maxBytes) {
      throw this.#refuse(`a text or a tag in it is longer than ${this.#maxBytes} bytes`);
    }
  }

  end(): void {
    this.#parser.write(this.#decode());
    this.#parser.close();
  }

  #decode(piece?: Buffer): string {
    try {
      return piece === undefined ? this.#decoder.decode() : this.#decoder.decode(piece, { stream: true });
    } catch {
      throw this.#refuse('it is not UTF-8');
    }
  }

  #refuse(reason: string): UserError {
    return refuseDamaged(this.#shown, `${this.#part}: ${reason}`);
  }
}

/** Reads a whole part. */
export async function readXml(
  pieces: AsyncIterable<Buffer>,
  handlers: XmlHandlers,
  place: { shown: string; part: string; maxBytes: number },
): Promise<void> {
  const reader = new XmlReader(handlers, place);
  for await (const piece of pieces) reader.write(piece);
  reader.end();
}

function withoutPrefix(name: string): string {
  const colon = name.indexOf(':');
  return colon === -1 ? name : name.slice(colon + 1);
}
