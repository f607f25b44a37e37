/** Everything that happens in a simulation, in its order. */
export class Trace {
  readonly lines: string[] = [];
  readonly #isKept: boolean;
  #digest = 0;

  constructor(isKept: boolean) {
    this.#isKept = isKept;
  }

  note(line: string): void {
    for (let at = 0; at < line.length; at++) this.#digest = (Math.imul(this.#digest, 31) + line.charCodeAt(at)) | 0;
    if (this.#isKept) this.lines.push(line);
  }

  /** Of all lines, also of those that are not kept. */
  get digest(): string {
    return (this.#digest >>> 0).toString(16).padStart(8, '0');
  }
}
