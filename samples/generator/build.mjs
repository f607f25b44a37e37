import { compress, countLineEnds, encodeText, writeCsvLine } from './encode.mjs';
import { CSV_FAULTS, NDJSON_FAULTS, VALUE_FAULTS } from './faults.mjs';
import { createNumbers, writeNumber } from './numbers.mjs';
import { createEmail, createPerson } from './people.mjs';
import { createRandom } from './random.mjs';
import { STEPS } from './steps.mjs';

/** The seed of the committed files. */
export const SEED = 20260321;

/** Numbers on the suppression list that stand in no other file. */
const OPT_OUTS_ELSEWHERE = 9;

/**
 * What must become of a row, known from how it was made.
 *
 * @typedef {object} ExpectedRow
 * @property {number} step
 * @property {string} file  relative to `samples/`
 * @property {number} line  on which the row begins, from 1, the header included
 * @property {number} row  from 1, the header not counted
 * @property {'accepted' | 'rejected' | 'duplicate' | 'suppressed'} disposition
 * @property {string} fault  what is wrong with it; empty when nothing is
 * @property {string} destination  E.164 of an accepted row; empty for the rest, and for a contact without a number
 */

/**
 * All sample files and what must become of each of their rows; the same for the same seed.
 *
 * @param {number} seed
 * @returns {{ files: Map<string, Buffer>, rows: ExpectedRow[] }} files by their path in `samples/`
 */
export function buildSamples(seed) {
  const random = createRandom(seed);
  const context = { random, numbers: createNumbers(random), optOuts: [] };
  const files = new Map();
  const rows = [];
  for (const { step, kind, files: specs } of STEPS) {
    const kept = [];
    for (const spec of specs) {
      const { bytes, expected } = buildFile(
        { delimiter: ',', lineEnds: ['\n'], encoding: 'utf-8', ...spec, kind, kept },
        context,
      );
      files.set(spec.path, bytes);
      for (const row of expected) rows.push({ step, file: spec.path, ...row });
    }
  }
  files.set('opt-outs.csv', buildOptOuts(context));
  return { files, rows };
}

function buildFile(spec, context) {
  const isNdjson = spec.path.includes('.ndjson');
  const expected = [];
  let text = isNdjson ? '' : writeCsvLine(Object.keys(spec.columns), { ...spec, quoteAll: false }) + spec.lineEnds[0];
  let line = 1 + countLineEnds(text);
  for (const [index, tag] of drawTags(spec, context.random).entries()) {
    const { values, ...outcome } = buildRow(tag, spec, context);
    const written = isNdjson
      ? writeNdjsonRow(values, tag, spec, context.random)
      : writeCsvRow(values, tag, spec, context.random);
    const ended = written + context.random.pick(spec.lineEnds);
    expected.push({ line, row: index + 1, ...outcome });
    text += ended;
    line += countLineEnds(ended);
  }
  const bytes = encodeText(text, spec.encoding);
  return { bytes: spec.path.endsWith('.gz') ? compress(bytes) : bytes, expected };
}

/** One tag a row: what is special about it. The first row has nothing, so that the keys of NDJSON are all seen there. */
function drawTags({ rows, faults, duplicates = 0, suppressed = 0 }, random) {
  const special = [
    ...Object.entries(faults).flatMap(([fault, count]) => Array(count).fill(fault)),
    ...Array(duplicates).fill('duplicate'),
    ...Array(suppressed).fill('suppressed'),
  ];
  return ['', ...random.shuffle([...special, ...Array(rows - 1 - special.length).fill('')])];
}

function buildRow(tag, spec, { random, numbers, optOuts }) {
  const original = tag === 'duplicate' ? random.pick(spec.kept) : undefined;
  const country = original?.country ?? (tag === 'lost-zero' ? 'CI' : random.pick(spec.countries));
  const e164 = original?.e164 ?? takeNumber(tag, country, numbers);
  const values = createPerson(random, country);
  values.mobile = writeNumber(e164, random.pick(spec.styles));
  if (spec.kind === 'contacts') chooseAddresses(values, random);
  if (country === spec.homeCountry && random.chance(0.5)) values.country = '';

  if (tag === 'duplicate') return { values, disposition: 'duplicate', fault: '', destination: '' };
  if (tag === 'suppressed') {
    optOuts.push(e164);
    return { values, disposition: 'suppressed', fault: '', destination: '' };
  }
  if (tag !== '') {
    if (spec.kind === 'contacts') values.email = '';
    VALUE_FAULTS[tag]?.({ values, e164 }, random, numbers.take(country));
    return { values, disposition: 'rejected', fault: tag, destination: '' };
  }
  spec.kept.push({ country, e164 });
  return { values, disposition: 'accepted', fault: '', destination: values.mobile === '' ? '' : e164 };
}

/** Some contacts have a number, some an e-mail address, most have both. */
function chooseAddresses(values, random) {
  const kind = random.int(10);
  if (kind > 1) values.email = createEmail(random, values.customer_id);
  if (kind === 9) values.mobile = '';
}

function takeNumber(tag, country, numbers) {
  for (;;) {
    const e164 = numbers.take(country);
    if (tag !== 'letter-for-zero' || e164.slice(4).includes('0')) return e164;
  }
}

function writeCsvRow(values, tag, spec, random) {
  const cells = Object.values(spec.columns).map((key) => values[key]);
  const change = CSV_FAULTS[tag];
  return writeCsvLine(change ? change(cells, random) : cells, {
    delimiter: spec.delimiter,
    quoteAll: spec.quoteAll ?? false,
  });
}

/** A missing value is left out or null, as it comes. */
function writeNdjsonRow(values, tag, spec, random) {
  const record = {};
  for (const [name, key] of Object.entries(spec.columns)) {
    if (values[key] !== '') record[name] = key === 'member_since' ? Number(values[key]) : values[key];
    else if (random.chance(0.5)) record[name] = null;
  }
  const line = JSON.stringify(record);
  const change = NDJSON_FAULTS[tag];
  return change ? change(line, random) : line;
}

function buildOptOuts({ random, numbers, optOuts }) {
  const elsewhere = Array.from({ length: OPT_OUTS_ELSEWHERE }, () => numbers.take(random.pick(['SG', 'MY', 'GB'])));
  const lines = random.shuffle([...optOuts, ...elsewhere]).map((e164) => {
    const day = String(1 + random.int(28)).padStart(2, '0');
    return writeCsvLine(
      [
        writeNumber(e164, random.pick(['e164', 'spaces'])),
        `2026-02-${day}`,
        random.pick(['replied STOP', 'asked the shop']),
      ],
      { delimiter: ',', quoteAll: false },
    );
  });
  return encodeText(`mobile,opted_out_on,how\n${lines.join('\n')}\n`, 'utf-8');
}
