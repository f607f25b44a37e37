// Checks a proof that `volley proof` wrote, without Volley. It needs Node 20 or later, and nothing else:
//
//   node verify.mjs proof.json [--head DIGEST] [--plan plan.json] [--salt proof.salt [1-sms.results.csv] [--number +6591234567]]
//
// Exit code 0: all of it holds. 1: it does not, and stderr says where. 2: the command is not one that it can check. A proof has one entry
// a line. The digest of an entry is the SHA-256 of the digest before it (in hex; 64 zeros before the first) and of the entry as JSON: keys
// sorted, no blanks, in ASCII. The last one, the head, vouches for all entries: note it elsewhere. A number stands in it as the SHA-256 of
// the salt and its digits, a file of results as that of the salt and its bytes.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { accessSync, createReadStream, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

function expect(holds, what) {
  if (!holds) throw new Error(what);
}

const text = { type: 'string' };
const options = { head: text, plan: text, salt: text, number: text };

/** What it is asked to check: refused where less than that would be. */
function readCommand() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const [proof = 'proof.json', results, ...more] = positionals;
  const { salt, number, plan } = values;
  expect(more.length === 0, `${more} is one file too many`);
  const isSalted = (number ?? results) === undefined || salt !== undefined;
  expect(isSalted, 'numbers and results are looked up with the salt of the run, expected --salt proof.salt as well');
  const isNumber = number === undefined || /^\+[1-9]\d{6,14}$/.test(number.replace(/[ ().-]/g, ''));
  expect(isNumber, `${number} is not in E.164, expected one such as +6591234567`);
  for (const path of [proof, results, salt, plan]) if (path !== undefined) accessSync(path);
  return { ...values, proof, results };
}

const lines = [];
const say = (line) => lines.push(line);
const visible = (line) => `${line.replace(/\p{C}/gu, '?')}\n`;
const sha256 = (of) => createHash('sha256').update(of, 'latin1').digest('hex');
const digestOf = (number) => sha256(salt + number.replace(/\D/g, ''));
const keyTextOf = (pem) => pem?.replace(/-----.*?-----|\s/g, '');
const fold = (name) => name.normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase();
/** File names stand in a proof without the numbers in them. */
const mask = (name) =>
  name.replace(/\+[1-9](?:[ ().-]{0,2}\d){6,}/g, (number) => {
    const digits = number.replace(/\D/g, '');
    return digits.length > 15 ? '***' : `+${digits.slice(0, 2)}${'*'.repeat(digits.length - 4)}${digits.slice(-2)}`;
  });

/** Adds up whole numbers from 0 on; any other is refused. */
function sum(counts) {
  const isCount = (count) => Number.isSafeInteger(count) && count >= 0;
  expect(Object.values(counts).every(isCount), 'a count is not a whole number from 0 on');
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value).filter((key) => value[key] !== undefined);
    const pairs = keys.sort().map((key) => `${canonical(key)}:${canonical(value[key])}`);
    return `{${pairs.join(',')}}`;
  }
  const inAscii = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[^ -~]/g, inAscii);
}

async function* readLines(path) {
  let rest = '';
  for await (const chunk of createReadStream(path, 'latin1')) {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop();
    yield* parts;
  }
  expect(rest === '', `the end of ${path} was cut or changed`);
}

/** The entries, each once its digest follows from the one before it. */
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
  say(`${path} holds: ${count - 1} entries, head ${head}`);
}

const JOURNAL = 'opened intent outcome settled claimed stage provisioning action acted closed'.split(' ');
const ORDER = [['plan'], ['approval'], JOURNAL, ['row'], ['receipts'], ['balance'], ['end']];
const ONCE = ['plan', 'receipts', 'end'];
const steps = new Map();
const approvals = [];
const looked = [];
let [given, plan, salt, last, nameless] = [{}, undefined, '', undefined, 0];
let run = { state: 'planned' };

function stepOf(number) {
  expect(steps.has(number), `step ${number} is not in the plan`);
  return steps.get(number);
}

function add(counts, more, sign = 1) {
  for (const [key, count] of Object.entries(more)) {
    counts[key] = (counts[key] ?? 0) + sign * count;
    expect(counts[key] >= 0, `more rows than there are had been ${key}`);
  }
}

/** What an entry says must agree with those before it. */
const CHECKS = {
  plan: (entry) => {
    plan = entry;
    for (const { number } of plan.steps) {
      const counts = { read: 0, planned: 0, rows: {}, status: {}, requests: {} };
      steps.set(number, { ...counts, open: new Map(), begun: [] });
    }
    if (given.salt === undefined) return;
    salt = readFileSync(given.salt, 'latin1').trim();
    expect(sha256(salt) === plan.saltSha256, `${given.salt} is the salt of another run`);
  },
  approval: ({ at, name, planSha256, publicKey, signature }) => {
    expect(planSha256 === plan.planSha256, 'it approves another plan');
    const key = signature && keyTextOf(publicKey);
    const isFirst = approvals.every((each) => fold(each.name) !== fold(name) && (key ?? NaN) !== each.key);
    expect(isFirst && fold(name) !== fold(plan.plannedBy ?? ''), `${name} planned it, or had approved before`);
    approvals.push({ name, key });
    const by = `approved by ${JSON.stringify(name)} on ${new Date(at).toISOString()}`;
    if (key === undefined) return say(`${by}, as Volley noted it: not signed`);
    const signed = JSON.stringify({ approval: 1, plan: plan.run, planSha256, name, at: new Date(at).toISOString() });
    const ofKey = createPublicKey(publicKey);
    const holds = verify(null, Buffer.from(signed), ofKey, Buffer.from(signature, 'base64'));
    expect(holds && ofKey.asymmetricKeyType === 'ed25519', `its signature is not of the key of ${name}`);
    return say(`${by}, signed with the key ${key}`);
  },
  opened: () => {
    run = { state: 'unfinished' };
  },
  closed: ({ reason }) => {
    run = reason === 'finished' ? { state: reason } : { state: 'stopped', stop: reason };
  },
  intent: ({ step, request, part, rows }) => {
    const { begun, open } = stepOf(step);
    const [first, count] = rows;
    const waiting = open.get(`${request}/${part}`);
    open.set(`${request}/${part}`, { rows, isInFlight: true });
    if (waiting !== undefined)
      return expect(canonical(waiting.rows) === canonical(rows), 'its rows were others before');
    expect(part === '', `request ${request} was not split before it`);
    const planned = plan.steps.find(({ number }) => number === step)?.counts.planned;
    expect(sum(rows) <= planned && count > 0, 'it has rows that were not planned');
    for (let at = first; at < first + count; at += 1) {
      expect(begun[at] === undefined, `it sends planned row ${at + 1} a second time, behind request ${begun[at]}`);
      begun[at] = request;
    }
  },
  outcome: ({ step, request, part, result, counts }) => {
    const { open, requests } = stepOf(step);
    const key = `${request}/${part}`;
    const { rows: [first, count] = [], isInFlight } = open.get(key) ?? {};
    if (result === 'ignored') return expect(count === undefined, 'it is the outcome that counts');
    expect(result === 'given-up' ? count : isInFlight, `no intent of request ${request} stands before it`);
    open.delete(key);
    if (result === 'again') return open.set(key, { rows: [first, count] });
    if (result === 'split') {
      const half = Math.ceil(count / 2);
      open.set(`${key}0`, { rows: [first, half] });
      return open.set(`${key}1`, { rows: [first + half, count - half] });
    }
    expect(sum(counts) === count, `it counts ${sum(counts)} rows, its intent ${count}`);
    return add(requests, counts);
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
    if (state !== 'planned') return;
    const at = found.planned++;
    add(found.status, { [status]: 1 });
    expect(status === 'unprocessed' || found.begun[at] !== undefined, `it is ${status}, and no request had it`);
    if (given.number !== undefined && number === digestOf(given.number)) looked.push(`${status} (${place})`);
    if (number === undefined) nameless += 1;
  },
  balance: ({ step, read, planned, rejected, skipped, outcomes, results }) => {
    const { rows, status, requests, read: found, open, isBalanced } = stepOf(step);
    expect(isBalanced === undefined, 'a second balance of the step');
    const inPlan = plan.steps.find(({ number }) => number === step).counts;
    expect(read === found && read === sum({ planned, rejected, skipped }), 'the rows that were read do not add up');
    expect(planned === sum(outcomes), 'the rows that were planned do not add up');
    for (const [key, count] of Object.entries({ planned, rejected, skipped })) {
      expect(count === (rows[key] ?? 0) && count === inPlan[key], `${key}: ${count}, rows or plan say otherwise`);
    }
    const inFlight = [...open.values()].filter(({ isInFlight }) => isInFlight).map((intent) => intent.rows[1]);
    const inDoubt = [0, sum(inFlight)].map((more) => (requests['in-doubt'] ?? 0) + more);
    for (const [key, count] of Object.entries(outcomes)) {
      expect(count === (status[key] ?? 0), `${key}: ${count}, the rows say ${status[key] ?? 0}`);
      const said = { unprocessed: [count], 'in-doubt': inDoubt }[key] ?? [requests[key] ?? 0];
      expect(said.includes(count), `${key}: ${count}, the requests say ${said}`);
    }
    const isLeft = open.size > 0 || outcomes.unprocessed > 0;
    expect(run.state !== 'finished' || !isLeft, 'the run was finished, and rows were left');
    Object.assign(stepOf(step), { isBalanced: true, results });
    say(`step ${step}: ${JSON.stringify({ read, planned, rejected, skipped, outcomes })}`);
  },
  end: ({ state, stop }) => {
    for (const [step, { isBalanced }] of steps) expect(isBalanced, `the balance of step ${step} is missing`);
    expect(state === run.state && stop === run.stop, `it says ${state}, the journal ${canonical(run)}`);
    say(`run ${plan.run} of job ${JSON.stringify(plan.job)}: ${state}`);
  },
};

/** What the proof says of the plan stands in plan.json, whose digest is what approvals and their signatures are of. */
function checkPlan(path) {
  const content = readFileSync(path);
  expect(sha256(content) === plan.planSha256, 'it is another plan, or was changed');
  const { id, job, plannedBy, retryOf, testOf, steps: planned } = JSON.parse(content);
  const { service, approvers, guards } = job;
  const files = (listed, rows) =>
    listed.map((each) => ({ file: mask(each.file), [rows]: each[rows], sha256: each.sha256 }));
  const describe = ({ number, kind, counts, inputs, suppression }) => {
    const { source: sender, text } = job.steps[number - 1].template ?? {};
    const from = { inputs: files(inputs, 'rows'), suppression: files(suppression, 'read') };
    return { number, kind, counts, ...from, sender, textSha256: text && sha256(Buffer.from(text)) };
  };
  const inPlan = {
    ...{ run: id, job: job.name, plannedBy, retryOf: retryOf?.run, steps: planned.map(describe) },
    service: service.sandbox ? 'sandbox' : `account ${service.account}, subaccount ${service.subAccountId}`,
    testOf: testOf && { plan: testOf.plan, numbers: testOf.numbers },
  };
  for (const key of new Set([...Object.keys(inPlan), ...Object.keys(plan)])) {
    const isOfProof = ['planSha256', 'saltSha256', 'type', 'place'].includes(key);
    const isSame = isOfProof || canonical({ is: plan[key] }) === canonical({ is: inPlan[key] });
    expect(isSame, `the proof says otherwise of the plan's ${key}`);
  }
  for (const { name, key } of approvals) {
    const isNamed = approvers?.some((each) => each.name === name && keyTextOf(each.publicKey) === key) ?? true;
    expect(isNamed, `the approval of ${name} is not signed with the key that it has for that name`);
  }
  const needed = testOf === undefined ? (guards.requireApproval ?? 0) : 0;
  const isSent = [...steps.values()].some(({ begun }) => begun.length > 0);
  expect(!isSent || approvals.length >= needed, `it asks for ${needed} approvals, the proof has ${approvals.length}`);
  say(`${path}: the plan is as the proof says, with its planner, files, senders and texts; approvals are of this file`);
}

async function checkResults(path) {
  const digest = createHash('sha256').update(salt);
  for await (const piece of createReadStream(path)) digest.update(piece);
  const sum = digest.digest('hex');
  const [step] = [...steps].find(([, { results }]) => results === sum) ?? [];
  expect(step !== undefined, 'it was changed or written anew, or is of another run');
  say(`${path}: it is the file of what was accepted in step ${step}, to the byte`);
}

async function checkProof(path) {
  for await (const entry of readEntries(path)) {
    const rank = ORDER.findIndex((types) => types.includes(entry.type));
    const before = ORDER.findIndex((types) => types.includes(last));
    const isInPlace = rank > before || (rank === before && !ONCE.includes(last));
    expect(plan !== undefined || entry.type === 'plan', `${entry.place}: the plan comes first`);
    expect(isInPlace, `${entry.place}: it stands behind ${last}, where there is none`);
    last = entry.type;
    try {
      CHECKS[entry.type]?.(entry);
    } catch ({ message }) {
      throw new Error(`${entry.place}: ${message}`);
    }
  }
  expect(last === 'end', 'the end of the run is missing');
}

let file = '';
try {
  given = readCommand();
  file = given.proof;
  await checkProof(file);
  if (given.number !== undefined) {
    const none = `not planned${nameless === 0 ? '' : ` under a number that the proof knows: ${nameless} rows have none`}`;
    say(`${given.number}: ${looked.join(', ') || none}`);
  }
  file = given.plan;
  if (file !== undefined) checkPlan(file);
  else
    say(
      'planner, files, senders and texts: as the proof says; that they are of the plan that was approved, --plan plan.json shows',
    );
  file = given.results;
  if (file !== undefined) await checkResults(file);
  process.stdout.write(lines.map(visible).join(''));
} catch ({ message }) {
  process.exitCode = file === '' ? 2 : 1;
  process.stderr.write(visible(`${file === '' ? 'Cannot check' : `${file} does not hold`}: ${message}`));
}
