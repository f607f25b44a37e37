/** Which rows of an input take part: all conditions of one of the groups must hold. What a person writes is `WrittenWhere` (job/schema/written-where.ts). */
export type Where = readonly (readonly Condition[])[];

/** What one column must be: every test must hold. A blank cell holds for `blank` alone. */
export interface Condition {
  readonly column: string;
  readonly tests: readonly CellTest[];
}

export type CellTest =
  /** Numbers are compared as numbers, `format` as below. Texts without the blanks around them and without case, save where `exact`. */
  | {
      readonly op: 'equals' | 'not';
      readonly values: readonly string[] | readonly number[];
      readonly exact: boolean;
      readonly format?: string | undefined;
    }
  /** Compares countries: the cell is a country, written in any way, or a number, whose country counts. `values`: ISO alpha-2. */
  | CountryTest
  /** `format`: how the cells write 1234.56, such as `1.234,56`; absent: with a point and no separators. */
  | { readonly op: 'atLeast' | 'atMost'; readonly bound: number; readonly format?: string | undefined }
  /**
   * `bound`: a day, or a time with its offset, in ISO 8601; of a job that is not yet planned also a day such as `90 days ago`
   * (job/fix-dates.ts). `format`: of the cells; undefined: ISO 8601.
   */
  | { readonly op: 'before' | 'after'; readonly bound: string; readonly format: string | undefined }
  | { readonly op: 'blank' | 'present' };

export interface CountryTest {
  readonly op: 'equals' | 'not';
  readonly as: 'country';
  readonly values: readonly string[];
}

/** A day before the day of the plan, as a job may write it in `where`. */
export const DAYS_AGO: RegExp = /^(?:today|(\d{1,4}) (day|week|month|year)s? ago)$/;
