import type { AppendFile, FileFacts, Files } from './files.js';

/** How often a file is opened again: a person who saves a list replaces it once. */
const TRIES = 3;

/**
 * Appends to the file that a path names, for as long as a process runs. An editor, rsync or a restore puts another file in its place, or
 * somebody removes it: what is appended then to the one that is open would be in no file. So the path is looked at behind each
 * sync, and where it names another file, or one that was cut, that is opened, and appended to as well.
 */
export class PathAppender {
  readonly #path: string;
  readonly #files: Pick<Files, 'stat'>;
  readonly #openFile: () => Promise<AppendFile>;
  #file: AppendFile | undefined;

  /** `openFile` begins the file if there is none, refuses what must not be appended to, and reads what it has. */
  constructor(path: string, { files, openFile }: { files: Pick<Files, 'stat'>; openFile: () => Promise<AppendFile> }) {
    this.#path = path;
    this.#files = files;
    this.#openFile = openFile;
  }

  async open(): Promise<void> {
    const file = await this.#openFile();
    await this.#file?.close();
    this.#file = file;
  }

  /** Resolves once it is durable in the file that the path then names; `encode` is asked anew for each file. */
  async append(encode: () => Uint8Array): Promise<void> {
    for (let left = TRIES; ; left -= 1) {
      const file = this.#file;
      if (file === undefined) throw new Error('it is not open');
      await file.append(encode());
      await file.sync();
      if (isAt(await this.#files.stat(this.#path), file)) return;
      if (left <= 1) throw new Error('another file is put in its place again and again');
      await this.open();
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}

/** Whether a path still names the file that is open; other processes may have appended to it as well. */
function isAt(found: FileFacts | undefined, { inode, bytes }: AppendFile): boolean {
  return found !== undefined && found.inode === inode && found.bytes >= bytes;
}
