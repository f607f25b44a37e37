interface Link<T> {
  readonly value: T;
  next: Link<T> | undefined;
}

/** First in, first out, in constant time; an array's `shift` moves all later items. */
export class Fifo<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;

  push(value: T): void {
    const link: Link<T> = { value, next: undefined };
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
  }

  /** Undefined when it is empty. */
  shift(): T | undefined {
    const first = this.#first;
    this.#first = first?.next;
    if (this.#first === undefined) this.#last = undefined;
    return first?.value;
  }
}
