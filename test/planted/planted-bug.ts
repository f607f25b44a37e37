/** A deliberate fault: one place of the source, and the tests of which one must turn red. */
export interface PlantedBug {
  readonly name: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  readonly tests: readonly string[];
  /** Of the one test of those that runs, where all of them take long. */
  readonly title?: string;
}
