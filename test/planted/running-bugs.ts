// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code
import type { PlantedBug } from './planted-bug.js';

const SIMULATION = 'test/simulation/simulation.long.test.ts';

export const RUNNING_BUGS: readonly PlantedBug[] = [
  {
    name: 'bottleneck does not pace',
    file: 'src/throttle/pacer.ts',
    find: 'this.#limiter.schedule(handOut)',
    replace: 'this.#clock.sleep(0).then(handOut)',
    tests: ['test/throttle/pacer.test.ts'],
  },
  {
    name: 'the intent is written after the request was sent',
    file: 'src/run/send/send-part.ts',
    find: "  await journal.append({ type: 'intent', ...key, at: deps.clock.now(), line, rows });\n",
    replace:
      "  void deps.clock.sleep(0).then(() => journal.append({ type: 'intent', ...key, at: deps.clock.now(), line, rows }));\n",
    tests: ['test/run/order.test.ts'],
  },
  {
    name: 'the outcome is counted before it is durable',
    file: 'src/run/send/send-part.ts',
    find: "    await journal.append({ type: 'outcome', ",
    replace: "    void journal.append({ type: 'outcome', ",
    tests: ['test/run/order.test.ts'],
  },
  {
    name: 'messages are known by their attempt',
    file: 'src/kinds/ids.ts',
    find: 'return `${planId}-${step}-`;',
    replace: 'return `${planId}-${step}${Math.random()}-`;',
    tests: ['test/run', 'test/plan'],
  },
  {
    name: 'an id is believed that comes with the number of another row',
    file: 'src/kinds/sms/sms.ts',
    find: 'if (isAnotherNumber(message.destination, numbers[row])) ',
    replace: 'if (row < 0) ',
    tests: ['test/run/exchanged-ids.test.ts', 'test/kinds/sms-outcomes.test.ts'],
  },
  {
    name: 'answers are joined to rows by position',
    file: 'src/kinds/sms/sms.ts',
    find: '    const row = (readMessageIndex(message.clientMessageId, prefix) ?? -1) - part.first;\n',
    replace: '    void [readMessageIndex, prefix];\n    const row = answer.messages.indexOf(message);\n',
    tests: ['test/kinds/sms-outcomes.test.ts'],
  },
  {
    name: 'a 400 is sent again',
    file: 'src/service/decide-answer.ts',
    find: "  if (status >= 400 && status < 500) return { kind: 'refused', status };\n",
    replace: "  if (status >= 400 && status < 500) return { kind: 'again', why, mayHaveBeenProcessed: false };\n",
    tests: ['test/service/decide-answer.test.ts'],
  },
  {
    name: 'a lost answer is taken for not sent',
    file: 'src/service/decide-answer.ts',
    find: "  return isRepeatable ? { kind: 'again', why, mayHaveBeenProcessed: true } : { kind: 'in-doubt', why };\n",
    replace: "  return { kind: 'again', why, mayHaveBeenProcessed: isRepeatable };\n",
    tests: ['test/service/decide-answer.test.ts'],
  },
  {
    name: 'the lane does not wait as long as Retry-After says',
    file: 'src/throttle/lane.ts',
    find: '      slidingSecond.holdUntil(pausedUntilMs);\n',
    replace: '',
    tests: ['test/throttle'],
  },
  {
    name: 'the lock is not asked for at the gate',
    file: 'src/run/send/send-part.ts',
    find: '    reportConnectDelay = await gate(() => lock.assertHeld());\n',
    replace: '    reportConnectDelay = await gate(async () => {});\n',
    tests: ['test/run/lost-at-gate.test.ts'],
  },
  {
    name: 'a journal that goes between its first intent and the gate is not missed',
    file: 'src/run/apply-plan.ts',
    find: '    await lock.assertHeld();\n    await options.announce(journal);\n',
    replace: '    await options.announce(journal);\n',
    tests: ['test/run/journal-gone.test.ts'],
  },
  {
    name: 'the clocks are not looked at before an intent',
    file: 'src/run/send/send-part.ts',
    find: '  lock.assertFresh();\n  const { step,',
    replace: '  const { step,',
    tests: ['test/run/stop.test.ts'],
  },
  {
    name: 'a worker whose claim is old gives it back in place of asking for it',
    file: 'src/run/send/send-part.ts',
    find: '  await lock.refresh?.();\n',
    replace: '',
    tests: ['test/run/stop.test.ts'],
  },
  {
    name: 'the clocks are not looked at behind the gate',
    file: 'src/run/send/send-part.ts',
    find: '    lock.assertFresh();\n',
    replace: '',
    tests: ['test/run/lost-at-gate.test.ts'],
  },
  {
    name: 'a process that starts again does not wait out what was in flight',
    file: 'src/run/send/area-use.ts',
    find: 'return isInFlight || lastHost !== host ? 0 : ',
    replace: 'void [isInFlight, lastHost, host];\n  return ',
    tests: ['test/run/resume-rate.test.ts'],
  },
  {
    name: 'a runner that was ousted while it read goes on',
    file: 'src/run/apply-plan.ts',
    find: '  await lock.assertHeld();\n  if (end.tornBytes > 0) {',
    replace: '  if (end.tornBytes > 0) {',
    tests: ['test/storage/lock.test.ts', 'test/run'],
    title:
      'two runners, of which one has clocks that stood still send no row twice, and lose none: overtaken after look 2',
  },
  {
    name: 'a run that cannot be read is taken for none',
    file: 'src/registry/history.ts',
    find: '(await files.stat(join(directory, name))) !== undefined;',
    replace: '(await files.stat(join(directory, name)).catch(() => undefined)) !== undefined;',
    tests: ['test/registry/history.test.ts', SIMULATION],
  },
  {
    name: 'rejected rows are shifted by one',
    file: 'src/report/step-outputs.ts',
    find: 'row.line, row.row] as const;',
    replace: 'row.line, row.row + 1] as const;',
    tests: ['test/report'],
    title: 'outputs of a step hold every row of the input exactly once, by what came of it',
  },
  {
    name: 'outputs that are begun early say of a row what its request has not come to',
    file: 'src/report/early/early-outputs.ts',
    find: 'begun.rows.isSettled(planned.number, request);',
    replace: 'begun.rows.isSettled(planned.number, request) || request > 0;',
    tests: ['test/report/early'],
  },
  {
    name: 'a cell that a spreadsheet would run is written as it is',
    file: 'src/report/output-format.ts',
    find: 'const text = neutralizeCell(cell);',
    replace: 'const text = cell;\n  void neutralizeCell;',
    tests: ['test/report/output-format.test.ts'],
  },
  {
    name: 'secrets are not scrubbed from the log',
    file: 'src/ports/log.ts',
    find: 'maskNumbers(scrubSecrets(line, forms))',
    replace: 'maskNumbers(forms.length > 99 ? "" : line)',
    tests: ['test/ports/log.test.ts'],
  },
  {
    name: 'numbers are not masked in the log',
    file: 'src/ports/log.ts',
    find: 'maskNumbers(scrubSecrets(line, forms))',
    replace: 'scrubSecrets(line, forms)',
    tests: ['test/ports/log-masking.test.ts'],
  },
  {
    name: 'a redirect is followed',
    file: 'src/service/transport.ts',
    find: "import { Agent, buildConnector, type Dispatcher } from 'undici';\n",
    replace: `import { Agent as Plain, buildConnector, type Dispatcher, interceptors } from 'undici';
class Agent extends Plain {
  constructor(options) {
    super(options);
    return this.compose(interceptors.redirect({ maxRedirections: 3 }));
  }
}
`,
    tests: ['test/service/transport-redirect.test.ts'],
  },
  {
    name: 'rows in doubt can be retried',
    file: 'src/registry/retry-choice.ts',
    find: "    return standing === 'not-sent' && !isGivenUp;\n",
    replace: "    return (standing === 'not-sent' || standing === 'in-doubt') && !isGivenUp;\n",
    tests: ['test/retry/retry-run.test.ts'],
  },
  {
    name: 'a row that an export lacks was not sent',
    file: 'src/settle/settle-export.ts',
    find: '  return `the export lacks it, ',
    replace:
      "  return { verdict: { status: 'not-sent', code: 'assumed-not-sent', reason: '' }, ids: [] };\n  return `the export lacks it, ",
    tests: ['test/settle/settle-export.test.ts'],
  },
  {
    name: 'a message that is queued was sent',
    file: 'src/report/receipt.ts',
    find: "SAY_SENT: readonly string[] = ['sent', ",
    replace: "SAY_SENT: readonly string[] = ['queued', 'sent', ",
    tests: ['test/settle/settle-export.test.ts', 'test/settle/settle-receipts.test.ts'],
  },
  {
    name: 'a person decides what became of messages that wait for their time',
    file: 'src/settle/operator-decision.ts',
    find: '  if (waitingUntil !== undefined) {\n',
    replace: '  if (waitingUntil === null) {\n',
    tests: ['test/settle/operator-decision.test.ts'],
  },
  {
    name: 'an event is acknowledged before it is durable',
    file: 'src/listen/event-writer.ts',
    find: '      await file.sync();\n',
    replace: '',
    tests: ['test/listen/event-writer.test.ts'],
    title: 'event writer says that a line is durable only after it was written and synced',
  },
  {
    name: 'what a step makes is asked for before the journal says so',
    file: 'src/run/send/provision-step.ts',
    find: "    await journal.append({ type: 'preparing', ",
    replace: "    void journal.append({ type: 'preparing', ",
    tests: [SIMULATION],
  },
  {
    name: 'a step without rows changes something before the journal says so',
    file: 'src/run/apply-action.ts',
    find: "          await journal.append({ type: 'action', ",
    replace: "          void journal.append({ type: 'action', ",
    tests: [SIMULATION],
  },
  {
    name: 'a conversation whose answer was lost is asked for again',
    file: 'src/kinds/conversations/conversations.ts',
    find: '  isRepeatable: () => false,\n',
    replace: '  isRepeatable: () => true,\n',
    tests: [SIMULATION],
  },
  {
    name: 'a digit that changed in the rows of a plan goes unnoticed',
    file: 'src/plan/format/planned-files.ts',
    find: 'if (bytes === planned.bytes && formatCrc32(crc) === planned.crc32) return chunk;',
    replace: 'if (bytes === planned.bytes) return chunk;',
    tests: ['test/plan/format/planned-files.test.ts'],
  },
  {
    name: 'a digit that changed in plan.json goes unnoticed',
    file: 'src/plan/format/plan-file.ts',
    find: 'plan === undefined || (read?.isSealed === false && !(plan.format < SEALED_FROM_FORMAT))',
    replace: 'plan === undefined',
    tests: ['test/plan/format/plan-file.test.ts'],
  },
  {
    name: 'rows in doubt of an earlier run go silent',
    file: 'src/registry/open-doubt.ts',
    find: '    if (inDoubt !== 0) runs.push(',
    replace: '    if (inDoubt === null) runs.push(',
    tests: ['test/registry/open-doubt.test.ts'],
    title:
      'rows in doubt of an earlier run are named by every command of its job, and keep its exit code at 3, until they are settled',
  },
  {
    name: 'the sandbox changes its state before its ledger has the entry',
    file: 'src/sandbox/ledger/ledger.ts',
    find: '        await this.#log.append(toLine(page));\n',
    replace: '        this.#stateOf.get(head.area)?.apply(rows, at);\n        await this.#log.append(toLine(page));\n',
    tests: ['test/sandbox/ledger/disk.test.ts'],
  },
  {
    name: 'the sandbox writes behind what a full disk left of a line',
    file: 'src/sandbox/ledger/byte-log.ts',
    find: 'if (isTorn) await',
    replace: 'if (!isTorn && appending.bytes < 0) await',
    tests: ['test/sandbox/ledger/disk.test.ts'],
  },
];
