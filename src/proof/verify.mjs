// Checks a proof that `volley proof` wrote, without Volley. It needs Node 20 or later, and nothing else:
//
//   node verify.mjs proof.json [--head DIGEST] [--salt proof.salt [1-sms.results.csv] [--number +6591234567]]
//
// Exit code 0: all of it holds. 1: it does not, and stderr says where. A proof has one entry a line. The digest of an entry is the SHA-256
// of the digest before it (in hex; 64 zeros before the first) and of the entry as JSON: keys sorted, no blanks, in ASCII. A number stands
// in it as the SHA-256 of the salt and its digits. The last digest, the head, vouches for all entries: note it elsewhere.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const text = { type: 'string' };
const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: { head: text, salt: text, number: text },
});
const [proofFile = 'proof.json', resultsFile] = positionals;
const say = (line) => process.stdout.write(`${line}\n`);
const sha256 = (of) => createHash('sha256').update(of, 'latin1').digest('hex');
const sum = (counts) => Object.values(counts).reduce((total, count) => total + count, 0);

function expect(holds, what) {
  if (!holds) throw new Error(what);
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${canonical(key)}:${canonical(value[key])}`).join(',')}}`;
  }
  const inAscii = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[^ -~]/g, inAscii);
}

async function* readLines(path) {
  let rest = '';
  for await (const chunk of createReadStream(path, 'latin1')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    yield* lines;
  }
  expect(rest === '', 'the end was cut or changed');
}

/** The entries, each once its digest follows from the one before it. Returns the head. */
async function* readEntries(path) {
  let [count, head, before, isWhole] = [-1, '0'.repeat(64), 'the beginning', false];
  for await (const line of readLines(path)) {
    count += 1;
    expect(count > 0 || line === '{"proof":1,"entries":[', 'the beginning was changed');
    expect(!isWhole, 'something stands behind the end');
    isWhole = line.startsWith(']');
    const cause = 'one was changed, added, taken out or moved there';
    expect(!isWhole || line === `],"head":"${head}"}`, `the end does not follow ${before}: ${cause}`);
    if (count === 0 || isWhole) continue;
    const [, comma, json, digest] = /^(,?)\{"entry":(\{.*\}),"sha256":"([0-9a-f]{64})"\}$/.exec(line) ?? [];
    const [, row, step] = /"row":(\d+),.*"step":(\d+),"type":"row"/.exec(json) ?? [];
    const now = `entry ${count}${row === undefined ? '' : ` (row ${row} of step ${step})`}`;
    head = sha256(head + json);
    const follows = digest === head && comma === (count === 1 ? '' : ',');
    expect(follows, `${now} does not follow ${before}: ${cause}`);
    const entry = JSON.parse(json);
    expect(canonical(entry) === json, `${now} is not written in the one way that there is`);
    before = row === undefined ? `${now} (${entry.type})` : now;
    yield { ...entry, place: before };
  }
  expect(isWhole, `the end is missing behind ${before}`);
  expect(given.head === undefined || given.head === head, `its head is ${head}, not the one that was noted`);
  return say(`${path} holds: ${count - 1} entries, head ${head}`);
}

const steps = new Map();
const open = new Map();
const numbers = [];
let plan;
let last;

function stepOf(number) {
  if (!steps.has(number)) steps.set(number, { read: 0, rows: {}, status: {}, requests: {} });
  return steps.get(number);
}

function add(counts, more, sign = 1) {
  for (const [key, count] of Object.entries(more)) counts[key] = (counts[key] ?? 0) + sign * count;
}

/** What an entry says must agree with those before it. */
const CHECKS = {
  plan: (entry) => {
    expect(plan === undefined, 'a second plan');
    plan = entry;
  },
  approval: ({ at, name, planSha256, publicKey, signature }) => {
    expect(planSha256 === plan.planSha256, 'it approves another plan');
    const signed = JSON.stringify({ approval: 1, plan: plan.run, planSha256, name, at: new Date(at).toISOString() });
    if (signature === undefined) return say(`approved by ${name}, not signed`);
    const holds = verify(null, Buffer.from(signed), createPublicKey(publicKey), Buffer.from(signature, 'base64'));
    expect(holds, `its signature is not of the key of ${name}`);
    return say(`approved by ${name}, signed with the key\n${publicKey.trim()}`);
  },
  intent: (entry) => open.set(`${entry.step}/${entry.request}/${entry.part}`, entry),
  outcome: ({ step, request, part, result, counts }) => {
    if (result === 'ignored') return;
    const key = `${step}/${request}/${part}`;
    const rows = open.get(key)?.rows[1];
    expect(open.delete(key), `no intent of request ${request} stands before it`);
    if (counts === undefined) return;
    expect(sum(counts) === rows, `it counts ${sum(counts)} rows, its intent ${rows}`);
    add(stepOf(step).requests, counts);
  },
  settled: ({ step, from, counts }) => {
    add(stepOf(step).requests, { [from]: sum(counts) }, -1);
    add(stepOf(step).requests, counts);
  },
  row: ({ step, row, state, status, number, place }) => {
    const found = stepOf(step);
    found.read += 1;
    expect(row === found.read, `row ${found.read} is expected there`);
    add(found.rows, { [state]: 1 });
    if (state === 'planned') add(found.status, { [status]: 1 });
    if (given.salt !== undefined && number !== undefined) numbers.push({ step, status, number, place });
  },
  balance: ({ step, read, planned, rejected, skipped, outcomes }) => {
    const { rows, status, requests, read: found } = stepOf(step);
    const inPlan = plan.steps.find(({ number }) => number === step)?.counts ?? {};
    expect(read === found && read === planned + rejected + skipped, 'the rows that were read do not add up');
    expect(planned === sum(outcomes), 'the rows that were planned do not add up');
    for (const [key, count] of Object.entries({ planned, rejected, skipped })) {
      expect(count === (rows[key] ?? 0) && count === inPlan[key], `${key}: ${count}, rows or plan say otherwise`);
    }
    const inFlight = [...open.values()].filter((intent) => intent.step === step).map((intent) => intent.rows[1]);
    const inDoubt = [0, sum(inFlight)].map((more) => (requests['in-doubt'] ?? 0) + more);
    for (const [key, count] of Object.entries(outcomes)) {
      expect(count === (status[key] ?? 0), `${key}: ${count}, the rows say ${status[key] ?? 0}`);
      const said = { unprocessed: [count], 'in-doubt': inDoubt }[key] ?? [requests[key] ?? 0];
      expect(said.includes(count), `${key}: ${count}, the requests say ${said}`);
    }
    stepOf(step).isBalanced = true;
    say(`step ${step}: ${JSON.stringify({ read, planned, rejected, skipped, outcomes })}`);
  },
};

/** Step and number of each row of a CSV file of results. */
function readResults(path) {
  const content = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  const delimiter = /_step"?([,;|\t])/.exec(content)?.[1] ?? ',';
  const CELL = new RegExp(`("(?:[^"]|"")*"|[^${delimiter}\r\n]*)([${delimiter}]|\r?\n|$)`, 'g');
  const rows = [];
  let columns;
  let cells = [];
  for (const [, cell, end] of content.matchAll(CELL)) {
    cells.push(cell.replaceAll('"', ''));
    if (end === delimiter) continue;
    if (columns === undefined) columns = ['_step', '_destination'].map((name) => cells.indexOf(name));
    else if (cells.length > 1) rows.push(columns.map((at) => cells[at] ?? ''));
    cells = [];
  }
  return rows;
}

/** The results have the rows of a step that were accepted, in their order, and no other. */
function checkResults(path, digestOf) {
  const rows = readResults(path);
  const accepted = numbers.filter(({ step, status }) => status === 'accepted' && String(step) === rows[0]?.[0]);
  const found = rows.map(([, number]) => digestOf(number));
  for (let at = 0; at < Math.max(found.length, accepted.length); at += 1) {
    if (found[at] === accepted[at]?.number) continue;
    const isMissing = found[at] === undefined || accepted.slice(at).some(({ number }) => number === found[at]);
    const what = isMissing
      ? `it lacks a row, ${accepted[at]?.place}`
      : `row ${at + 1} of it was not accepted, or not there`;
    throw new Error(`${path} differs: ${what}`);
  }
  return say(`${path}: its ${found.length} rows are those that were accepted`);
}

try {
  for await (const entry of readEntries(proofFile)) {
    expect(plan !== undefined || entry.type === 'plan', `${entry.place}: the plan comes first`);
    expect(last !== 'end', `${entry.place}: it stands behind the end of the run`);
    last = entry.type;
    try {
      CHECKS[entry.type]?.(entry);
    } catch ({ message }) {
      throw new Error(`${entry.place}: ${message}`);
    }
  }
  const isWhole = last === 'end' && plan.steps.every(({ number }) => stepOf(number).isBalanced);
  expect(isWhole, 'the end of the run, or the balance of a step, is missing');
  if (given.salt !== undefined) {
    const salt = readFileSync(given.salt, 'latin1').trim();
    const digestOf = (number) => sha256(salt + number.replace(/\D/g, ''));
    expect(sha256(salt) === plan.saltSha256, `${given.salt} is the salt of another run`);
    if (resultsFile !== undefined) checkResults(resultsFile, digestOf);
    if (given.number !== undefined) {
      const found = numbers.filter(({ number }) => number === digestOf(given.number));
      say(`${given.number}: ${found.map(({ place, status }) => `${status} (${place})`).join(', ') || 'not planned'}`);
    }
  }
} catch ({ message }) {
  process.stderr.write(`${proofFile} does not hold: ${message}\n`);
  process.exitCode = 1;
}
