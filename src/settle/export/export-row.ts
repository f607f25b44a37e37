import type { FindColumn } from '../../domain/find-column.js';
import type { Cell } from '../../domain/row.js';

/** A row of the service's message export (its documentation: "SMS Logs files format"). */
export interface ExportRow {
  readonly umid: string;
  readonly clientMessageId: string;
  readonly subAccountId: string;
  /** As written: the service may hide digits of it. */
  readonly msisdn: string;
  readonly country: string;
  /** Undefined if absent from the export. */
  readonly isOutbound: boolean | undefined;
  /** In ms since 1970; undefined where it cannot be read for certain. */
  readonly createdMs: number | undefined;
  readonly status: string;
  readonly detail: string;
  readonly errorCode: string;
  readonly errorMessage: string;
}

/** Needed to identify Volley's rows. */
const NEEDED = ['umid', 'subaccountid', 'status_value', 'msisdn', 'clientmessageid'] as const;
/** Needed to conclude anything from an absent row. */
const NEEDED_AS_PROOF = ['direction', 'country', 'createdat'] as const;
const OTHERS = ['status_details', 'status_errorcode', 'status_errormessage'] as const;
type Column = (typeof NEEDED)[number] | (typeof NEEDED_AS_PROOF)[number] | (typeof OTHERS)[number];

export interface ExportColumns {
  /** Required columns that the export lacks. */
  readonly missing: readonly string[];
  /** Missing columns without which nothing can be proved unsent. */
  readonly missingAsProof: readonly string[];
  read(cells: readonly Cell[]): ExportRow;
  /**
   * Whether a cell has swallowed other rows: an undoubled quote takes in everything up to the next quote. Recognized
   * by an id of the plan where none belongs, or by as many fields as a row has, the subaccount among them.
   */
  isSwallowing(cells: readonly Cell[], plan: { readonly id: string; readonly subAccountId: string }): boolean;
}

export function bindExportColumns(columns: readonly string[], findColumn: FindColumn): ExportColumns {
  const places = new Map<Column, number>();
  for (const name of [...NEEDED, ...NEEDED_AS_PROOF, ...OTHERS]) {
    const found = findColumn(columns, name);
    if (found !== undefined) places.set(name, found.index);
  }
  return {
    missing: NEEDED.filter((name) => !places.has(name)),
    missingAsProof: NEEDED_AS_PROOF.filter((name) => !places.has(name)),
    read: (cells) => {
      const text = (name: Column) => cells[places.get(name) ?? -1]?.trim() ?? '';
      return {
        umid: text('umid'),
        clientMessageId: text('clientmessageid'),
        subAccountId: text('subaccountid'),
        msisdn: text('msisdn'),
        country: text('country').toUpperCase(),
        isOutbound: DIRECTIONS.get(text('direction').toLowerCase()),
        createdMs: parseTime(text('createdat')),
        status: text('status_value').toLowerCase(),
        detail: text('status_details'),
        errorCode: text('status_errorcode'),
        errorMessage: text('status_errormessage'),
      };
    },
    isSwallowing: (cells, { id, subAccountId }) =>
      cells.some((cell = '', place) => {
        if (place !== places.get('clientmessageid') && cell.toLowerCase().includes(`${id}-`)) return true;
        if (!/[\r\n]/.test(cell)) return false;
        const fields = cell.split(/[\r\n,;|\t]/);
        return fields.length >= cells.length && fields.includes(subAccountId);
      }),
  };
}

const DIRECTIONS = new Map([
  ['1', true],
  ['outbound', true],
  ['0', false],
  ['inbound', false],
]);

const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)\s*(Z|UTC|([+-]\d\d):?(\d\d))?$/i;

/** ISO 8601, with a blank for the T too; without an offset it is UTC. A time of another form might be read wrongly. */
function parseTime(text: string): number | undefined {
  const [, day, time, , hours, minutes] = TIME.exec(text) ?? [];
  if (day === undefined) return undefined;
  const atMs = Date.parse(`${day}T${time}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`);
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** Whether a number of the export may be this one: hidden digits match any, shown ones must be equal. */
export function fitsNumber(msisdn: string, e164: string): boolean {
  const written = msisdn.replace(/[\s()+-]/g, '');
  const digits = e164.replace(/\D/g, '');
  const shown = written.split(/\D+/);
  const [head = '', tail = ''] = [shown[0], shown.at(-1)];
  if (shown.length === 1) return head === '' || head === digits;
  return digits.startsWith(head) && digits.endsWith(tail);
}
