/** Rival (b), the bare floor: csv-parse, arrays that are only counted. `node plan-floor.js <input>` */
import { createReadStream } from 'node:fs';
import { Parser } from 'csv-parse';

let rows = 0;
class Counter extends Parser {
  override push(row: unknown): boolean {
    if (row === null) return super.push(null);
    rows += 1;
    return true;
  }
}
const [input = ''] = process.argv.slice(2);
const parser = new Counter({ columns: false, delimiter: ',', record_delimiter: ['\n', '\r\n'] });
for await (const piece of createReadStream(input, { highWaterMark: 256 * 1024 })) {
  await new Promise<void>((resolve, reject) => {
    parser.write(piece, (error) => (error ? reject(error) : resolve()));
  });
}
await new Promise<void>((resolve) => {
  parser.end(() => resolve());
});
process.stdout.write(`${JSON.stringify({ read: rows })}\n`);
