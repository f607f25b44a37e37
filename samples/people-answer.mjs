// Plays the people of jobs/number-check.yaml on the sandbox: writes the results of its last run once more, with the code that each of
// them gives. The last but one gives none, and the last a wrong one. In a real job your form or your shop writes that file.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const out = join(dirname(fileURLToPath(import.meta.url)), '../out');
const job = join(out, 'number-check');

const [results] = readdirSync(job)
  .map((run) => join(job, run, '1-verification.start.results.csv'))
  .filter((path) => existsSync(path))
  .sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
if (results === undefined) throw new Error('There is no session yet. First: volley run jobs/number-check.yaml');

const codes = new Map(
  readFileSync(join(job, 'sandbox/ledger.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).shared)
    .filter((entry) => entry?.event === 'code-sent')
    .map(({ sessionId, code }) => [sessionId, code]),
);

const [header, ...rows] = readFileSync(results, 'utf8').trim().split('\n');
const session = header.split(',').indexOf('_sessionId');
const told = rows.flatMap((row, index) => {
  const right = codes.get(row.split(',')[session]);
  const behind = rows.length - 1 - index;
  if (behind === 1) return [];
  return [`${row},${behind === 0 ? wrong(right) : right}`];
});
const file = join(out, 'number-check-codes.csv');
writeFileSync(file, `${[`${header},code`, ...told].join('\n')}\n`);
process.stdout.write(`${told.length} of ${rows.length} people gave a code: ${file}\n`);

function wrong(code) {
  return code.replace(/.$/, (digit) => (Number(digit) + 1) % 10);
}
