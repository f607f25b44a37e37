/** Which rows of an input take part: all conditions of one of the groups must hold. What a person writes is `WrittenWhere` (job/schema/written-where.ts). */
export type Where = readonly (readonly Condition[])[];

/** What one column must be: every test must hold. A blank cell holds for `blank` alone. */
export interface Condition {
  readonly column: string;
  readonly tests: readonly CellTest[];
}

export type CellTest =
  /** Numbers are compared as numbers. Texts without the blanks around them and without case, save where `exact`. */
  | { readonly op: 'equals' | 'not'; readonly values: readonly string[] | readonly number[]; readonly exact: boolean }
  | { readonly op: 'atLeast' | 'atMost'; readonly bound: number }
  /** `bound`: a day, or a time with its offset, in ISO 8601. `format`: of the cells; undefined: ISO 8601. */
  | { readonly op: 'before' | 'after'; readonly bound: string; readonly format: string | undefined }
  | { readonly op: 'blank' | 'present' };
