/** Rival (a): what a good engineer writes in an afternoon with the usual libraries. `node plan-usual.js <input> <output>` */

import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { parse } from 'csv-parse';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import mustache from 'mustache';

const [input = '', output = '', text = ''] = process.argv.slice(2);
const BATCH = 1000;

const out = createWriteStream(output);
const write = async (line: object) => {
  if (!out.write(`${JSON.stringify(line)}\n`)) await once(out, 'drain');
};
const seen = new Set<string>();
let messages: object[] = [];
const counts = { read: 0, planned: 0, rejected: 0, duplicates: 0, batches: 0 };
const records: AsyncIterable<Record<string, string>> = createReadStream(input).pipe(
  parse({ columns: true, bom: true }),
);
for await (const record of records) {
  counts.read += 1;
  const number = parsePhoneNumberFromString(record.mobile ?? '', 'SG');
  if (number?.isValid() !== true) {
    counts.rejected += 1;
    continue;
  }
  if (seen.has(number.number)) {
    counts.duplicates += 1;
    continue;
  }
  seen.add(number.number);
  messages.push({
    destination: number.number,
    clientMessageId: String(counts.planned),
    text: mustache.render(text, record, {}, { escape: String }),
  });
  counts.planned += 1;
  if (messages.length === BATCH) {
    counts.batches += 1;
    await write({ clientBatchId: String(counts.batches), includeMessagesInResponse: true, messages });
    messages = [];
  }
}
if (messages.length > 0) await write({ clientBatchId: 'last', includeMessagesInResponse: true, messages });
out.end();
await once(out, 'close');
process.stdout.write(`${JSON.stringify(counts)}\n`);
