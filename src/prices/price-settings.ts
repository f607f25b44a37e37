/** The price list of a job; `Input` is how a job names files. */
export interface PriceSettings<Input> {
  /** Its one file, and how it is read. */
  readonly input: Input;
  /** ISO 4217. */
  readonly currency: string;
  /** What becomes of a row without a price: the plan is refused, or it counts as costing nothing. */
  readonly onMissing: 'refuse' | 'zero';
}
