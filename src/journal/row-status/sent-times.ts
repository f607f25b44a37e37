/** From before a row's request could first have left to after its last outcome, by the clocks of the sending machines. */
export interface SentTime {
  readonly fromMs: number;
  readonly toMs: number;
  readonly hosts: readonly string[];
}

/** When the requests of a step were under way: 28 bytes a request. The rows of a request stand together. */
export class SentTimes {
  readonly #from: Float64Array;
  readonly #to: Float64Array;
  readonly #firsts: Uint32Array;
  /** 0 for a request that was not begun. */
  readonly #counts: Uint32Array;
  /** Of each request, which of `#hostLists` it has. */
  readonly #hosts: Uint32Array;
  readonly #hostLists: (readonly string[])[] = [[]];
  /** Begun requests by their rows; built on first use. */
  #begun: Uint32Array | undefined;

  constructor(requests: number) {
    this.#from = new Float64Array(requests + 1).fill(Number.POSITIVE_INFINITY);
    this.#to = new Float64Array(requests + 1);
    this.#firsts = new Uint32Array(requests + 1);
    this.#counts = new Uint32Array(requests + 1);
    this.#hosts = new Uint32Array(requests + 1);
  }

  /** A request is about to be sent, or a part of it: the whole comes before its parts. */
  begin(request: number, [first, count]: readonly [first: number, count: number]): void {
    if (this.#counts[request] !== 0) return;
    this.#firsts[request] = first;
    this.#counts[request] = count;
    this.#begun = undefined;
  }

  note(request: number, at: number, host: string): void {
    this.#from[request] = Math.min(this.#from[request] ?? at, at);
    this.#to[request] = Math.max(this.#to[request] ?? at, at);
    this.#hosts[request] = this.#withHost(this.#hosts[request] ?? 0, host);
  }

  /** Undefined for a row whose request was never begun. */
  find(row: number): SentTime | undefined {
    this.#begun ??= this.#sortBegun();
    let low = 0;
    for (let high = this.#begun.length; low < high; ) {
      const middle = (low + high) >>> 1;
      const request = this.#begun[middle] ?? 0;
      if ((this.#firsts[request] ?? 0) + (this.#counts[request] ?? 0) > row) high = middle;
      else low = middle + 1;
    }
    const request = this.#begun[low];
    if (request === undefined || (this.#firsts[request] ?? 0) > row) return undefined;
    const hosts = this.#hostLists[this.#hosts[request] ?? 0] ?? [];
    return { fromMs: this.#from[request] ?? 0, toMs: this.#to[request] ?? 0, hosts };
  }

  #sortBegun(): Uint32Array {
    const begun = this.#counts.map((_, request) => request).filter((request) => this.#counts[request] !== 0);
    return begun.sort((one, other) => (this.#firsts[one] ?? 0) - (this.#firsts[other] ?? 0));
  }

  /** Number of the list that has the host as well. Few machines send a run. */
  #withHost(number: number, host: string): number {
    const hosts = this.#hostLists[number] ?? [];
    if (hosts.includes(host)) return number;
    const known = this.#hostLists.findIndex(
      (list) =>
        list.length === hosts.length + 1 && list.at(-1) === host && hosts.every((each, at) => list[at] === each),
    );
    return known === -1 ? this.#hostLists.push([...hosts, host]) - 1 : known;
  }
}
