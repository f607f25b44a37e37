import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Absolute path of `samples/`. */
export const SAMPLES: string = fileURLToPath(new URL('../../samples', import.meta.url));

export type Disposition = 'accepted' | 'rejected' | 'duplicate' | 'suppressed';

/** What must become of one row of the samples; `file` is relative to `samples/`, `destination` E.164 or empty. */
export interface ExpectedRow {
  readonly step: number;
  readonly file: string;
  readonly line: number;
  readonly row: number;
  readonly disposition: Disposition;
  readonly fault: string;
  readonly destination: string;
}

type Counts = Readonly<Record<'read' | Disposition, number>>;

export interface ExpectedStep extends Counts {
  readonly step: number;
  readonly rejectedByFault: Readonly<Record<string, number>>;
  readonly files: Readonly<Record<string, Counts>>;
}

/** The generator's list of rows, in the order in which jobs/spring-sale.yaml reads them. */
export function parseExpectedRows(): ExpectedRow[] {
  const [, ...lines] = readFileSync(`${SAMPLES}/expected/rows.csv`, 'utf8').trimEnd().split('\n');
  return lines.map((text) => {
    const [step = '', file = '', line = '', row = '', disposition, fault = '', destination = ''] = text.split(',');
    return {
      step: Number(step),
      file,
      line: Number(line),
      row: Number(row),
      disposition: disposition as Disposition,
      fault,
      destination,
    };
  });
}

/** The generator's counts for each step of jobs/spring-sale.yaml. */
export function readAccount(): { readonly steps: readonly ExpectedStep[] } {
  return JSON.parse(readFileSync(`${SAMPLES}/expected/account.json`, 'utf8'));
}

/** Faults of the generator, each with the codes of rejections that may name it. */
export const CODES: Readonly<Record<string, readonly string[]>> = {
  'too-few-fields': ['too-few-fields'],
  'too-many-fields': ['too-many-fields'],
  'bad-json': ['bad-json'],
  'not-an-object': ['not-an-object'],
  'duplicate-keys': ['duplicate-key'],
  'lossy-number': ['number-loses-digits'],
  'half-character': ['lone-surrogate'],
  'scientific-number': ['spreadsheet-number'],
  'lost-plus': ['lost-plus'],
  'lost-zero': ['lost-zero'],
  apostrophe: ['stray-apostrophe'],
  'letter-for-zero': ['letters'],
  'two-numbers': ['two-numbers'],
  extension: ['extension'],
  'empty-number': ['empty'],
  'no-number': ['placeholder', 'not-a-number', 'too-short', 'bad-number'],
  'unused-range': ['bad-number'],
  'too-short-number': ['too-short', 'bad-number'],
  'unknown-country': ['bad-country'],
  'no-country': ['no-country'],
  'wrong-country': ['bad-number', 'too-short', 'too-long', 'lost-plus', 'lost-zero'],
  'missing-voucher': ['missing-value'],
  'too-long-text': ['text-too-long'],
  'no-address': ['no-address'],
  'bad-email': ['bad-email'],
  'too-long-name': ['field-too-long'],
  'too-long-id': ['field-too-long'],
};
