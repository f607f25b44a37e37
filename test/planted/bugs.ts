// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code

/** A deliberate fault: one place of the source, and the tests of which one must turn red. */
export interface PlantedBug {
  readonly name: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  readonly tests: readonly string[];
}

const SIMULATION = 'test/simulation/simulation.test.ts';

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'the journal is not synced',
    file: 'src/journal/writer.ts',
    find: '    await this.#file.sync();\n    this.#durable',
    replace: '    this.#durable',
    tests: [SIMULATION],
  },
  {
    name: 'a snapshot is trusted wherever it stands',
    file: 'src/journal/state-reader.ts',
    find: ' || line.entry.offset !== offset',
    replace: '',
    tests: ['test/journal/state-reader.test.ts'],
  },
  {
    name: 'a snapshot is trusted that the next runner did not read',
    file: 'src/journal/state-reader.ts',
    find: 'if (runners.some(({ firstSeq }) => firstSeq <= start.lastSeq)) continue;',
    replace: '',
    tests: ['test/journal/state-reader.test.ts'],
  },
  {
    name: 'a snapshot knows the lines behind it',
    file: 'src/journal/writer.ts',
    find: '    const bytes = this.#encode(',
    replace: '    for (const entry of group) this.#state?.apply(entry);\n    const bytes = this.#encode(',
    tests: [SIMULATION],
  },
  {
    name: 'the intent is written after the request was sent',
    file: 'src/run/send-part.ts',
    find: "  await journal.append({ type: 'intent', ...key, at: deps.clock.now(), line, rows });\n",
    replace:
      "  void deps.clock.sleep(0).then(() => journal.append({ type: 'intent', ...key, at: deps.clock.now(), line, rows }));\n",
    tests: ['test/run/order.test.ts'],
  },
  {
    name: 'the outcome is counted before it is durable',
    file: 'src/run/send-part.ts',
    find: "    await journal.append({ type: 'outcome', ",
    replace: "    void journal.append({ type: 'outcome', ",
    tests: ['test/run/order.test.ts'],
  },
  {
    name: 'the checksum of a journal line is not looked at',
    file: 'src/journal/format.ts',
    find: "head === '' || Number.parseInt(crc, 16) !== crc32(bytes.subarray(BODY_START))",
    replace: "void crc, head === ''",
    tests: ['test/journal'],
  },
  {
    name: 'messages are known by their attempt',
    file: 'src/steps/ids.ts',
    find: 'return `${planId}-${step}-`;',
    replace: 'return `${planId}-${step}${Math.random()}-`;',
    tests: ['test/run', 'test/plan'],
  },
  {
    name: 'answers are joined to rows by position',
    file: 'src/steps/sms.ts',
    find: '    const row = (readMessageIndex(message.clientMessageId, prefix) ?? -1) - part.first;\n',
    replace: '    void [readMessageIndex, prefix];\n    const row = answer.messages.indexOf(message);\n',
    tests: ['test/steps/sms-outcomes.test.ts'],
  },
  {
    name: 'what was begun is remembered by its highest number',
    file: 'src/journal/replay.ts',
    find: '  progress.begunAhead.set(request, endOffset);\n',
    replace:
      '  progress.begunAhead.clear();\n  progress.nextRequest = request;\n  progress.begunAhead.set(request, endOffset);\n',
    tests: ['test/journal/replay.test.ts', 'test/journal/replay.property.test.ts'],
  },
  {
    name: 'a 400 is sent again',
    file: 'src/service/retry.ts',
    find: "  if (status >= 400 && status < 500) return { kind: 'refused', status };\n",
    replace: "  if (status >= 400 && status < 500) return { kind: 'again', why, mayHaveBeenProcessed: false };\n",
    tests: ['test/service/retry.test.ts'],
  },
  {
    name: 'a lost answer is taken for not sent',
    file: 'src/service/retry.ts',
    find: "  return isRepeatable ? { kind: 'again', why, mayHaveBeenProcessed: true } : { kind: 'in-doubt', why };\n",
    replace: "  return { kind: 'again', why, mayHaveBeenProcessed: isRepeatable };\n",
    tests: ['test/service/retry.test.ts'],
  },
  {
    name: 'the lane does not wait as long as Retry-After says',
    file: 'src/throttle/lane.ts',
    find: '      timeline.holdUntil(pausedUntilMs);\n',
    replace: '',
    tests: ['test/throttle'],
  },
  {
    name: 'a batch that is halved loses its last row',
    file: 'src/journal/replay.ts',
    find: 'rows: [first + firstCount, count - firstCount]',
    replace: 'rows: [first + firstCount, count - firstCount - (count > 3 ? 1 : 0)]',
    tests: ['test/run/bisection.test.ts', 'test/journal'],
  },
  {
    name: 'the lock is not asked for before a request',
    file: 'src/run/lock.ts',
    find: '    if (!(await (isWriting ? isHighest() : isStanding()))) isLost = true;\n',
    replace: '    void isStanding;\n',
    tests: ['test/run/lock.test.ts'],
  },
  {
    name: 'a runner that was ousted twice is not told',
    file: 'src/run/lock.ts',
    find: 'return mine !== undefined && other === undefined;',
    replace: 'void mine;\n    return other === undefined;',
    tests: ['test/run/lock-ousted.test.ts'],
  },
  {
    name: 'the lock is not asked for at the gate',
    file: 'src/run/send-part.ts',
    find: '    noteLate = await gate(() => lock.assertHeld());\n',
    replace: '    noteLate = await gate(async () => {});\n',
    tests: ['test/run/lost-at-gate.test.ts'],
  },
  {
    name: 'the clocks are not looked at behind the gate',
    file: 'src/run/send-part.ts',
    find: '    lock.assertFresh();\n',
    replace: '',
    tests: ['test/run/lost-at-gate.test.ts'],
  },
  {
    name: 'a process that starts again does not wait out what was in flight',
    file: 'src/run/area-use.ts',
    find: 'return isInFlight || lastHost !== host ? 0 : ',
    replace: 'void [isInFlight, lastHost, host];\n  return ',
    tests: ['test/run/resume-rate.test.ts'],
  },
  {
    name: 'a runner that was ousted while it read goes on',
    file: 'src/run/apply.ts',
    find: '  await lock.assertHeld();\n  if (end.tornBytes > 0) {',
    replace: '  if (end.tornBytes > 0) {',
    tests: ['test/run/lock.test.ts', 'test/run'],
  },
  {
    name: 'lines of an older epoch count',
    file: 'src/journal/reader.ts',
    find: '(line.epoch < this.#lastEpoch || this.#isUnread(line))',
    replace: 'line.epoch < 0',
    tests: ['test/journal'],
  },
  {
    name: 'lines that the next runner had not read count',
    file: 'src/journal/reader.ts',
    find: '(line.epoch < this.#lastEpoch || this.#isUnread(line))',
    replace: 'line.epoch < this.#lastEpoch',
    tests: ['test/journal'],
  },
  {
    name: 'the directory of a renamed file is not synced',
    file: 'src/files.ts',
    find: '    await raw.rename(from, to);\n    await syncDirectory(dirname(to));\n',
    replace: '    await raw.rename(from, to);\n',
    tests: ['test/files.test.ts', SIMULATION],
  },
  {
    name: 'the name of a new journal is not synced',
    file: 'src/files.ts',
    find: '        await syncDirectory(dirname(path));\n        return appendFile(',
    replace: '        return appendFile(',
    tests: ['test/files.test.ts', SIMULATION],
  },
  {
    name: 'a run that cannot be read is taken for none',
    file: 'src/run/history.ts',
    find: 'if ((await files.stat(join(directory, PLAN_FILE))) === undefined && ',
    replace: 'if ((await files.stat(join(directory, PLAN_FILE)).catch(() => undefined)) === undefined && ',
    tests: ['test/run/history.test.ts', SIMULATION],
  },
  {
    name: 'rejected rows are shifted by one',
    file: 'src/report/step-outputs.ts',
    find: 'row.line, row.row] as const;',
    replace: 'row.line, row.row + 1] as const;',
    tests: ['test/report'],
  },
  {
    name: 'a number that stands twice is sent to twice',
    file: 'src/steps/sms-planner.ts',
    find: "const kept = step.duplicates === 'skip' ?",
    replace: "const kept = step.duplicates !== 'skip' ?",
    tests: ['test/plan/duplicates.test.ts'],
  },
  {
    name: 'a message of two parts is counted as one',
    file: 'src/template/byte-text.ts',
    find: 'total.septets <= GSM7_SINGLE ?',
    replace: 'total.septets <= GSM7_SINGLE + 1 ?',
    tests: ['test/template/byte-text.test.ts'],
  },
  {
    name: 'a row with too few fields is taken as it is',
    file: 'src/row-writer.ts',
    find: 'if (this.#cells !== this.width) return false;',
    replace: 'if (this.#cells > this.width) return false;',
    tests: ['test/read/csv.test.ts'],
  },
  {
    name: 'a carrier code is taken for a part of the prefix',
    file: 'src/normalize/national-prefix.ts',
    find: 'if (start.isOnly && !this.#hasGroups)',
    replace: 'if (start.isOnly)',
    tests: ['test/normalize/digit-pattern.test.ts'],
  },
  {
    name: 'a cell that a spreadsheet would run is written as it is',
    file: 'src/report/format.ts',
    find: 'const text = neutralizeCell(cell);',
    replace: 'const text = cell;\n  void neutralizeCell;',
    tests: ['test/report/format.test.ts'],
  },
  {
    name: 'secrets are not scrubbed from the log',
    file: 'src/log.ts',
    find: 'maskNumbers(scrubSecrets(line, forms))',
    replace: 'maskNumbers(forms.length > 99 ? "" : line)',
    tests: ['test/log.test.ts'],
  },
  {
    name: 'numbers are not masked in the log',
    file: 'src/log.ts',
    find: 'maskNumbers(scrubSecrets(line, forms))',
    replace: 'scrubSecrets(line, forms)',
    tests: ['test/log-masking.test.ts'],
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
    file: 'src/run/retry-rows.ts',
    find: "  if (status !== 'not-sent') return OTHER;\n",
    replace: "  if (status !== 'not-sent') return status === 'in-doubt' ? NOT_SENT : OTHER;\n",
    tests: ['test/run/retry-run.test.ts'],
  },
  {
    name: 'a row that an export lacks is not sent, whatever the export covers',
    file: 'src/run/settle-export-match.ts',
    find: '    if (gap !== undefined) return `it is not in the export, but ${gap}`;\n',
    replace: '    void gap;\n',
    tests: ['test/run/settle-export.test.ts'],
  },
  {
    name: 'an event is acknowledged before it is durable',
    file: 'src/listen/event-writer.ts',
    find: '      await file.sync();\n',
    replace: '',
    tests: ['test/listen/event-writer.test.ts'],
  },
  {
    name: 'what a step makes is asked for before the journal says so',
    file: 'src/run/prepare-step.ts',
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
    file: 'src/steps/conversations.ts',
    find: '  isRepeatable: () => false,\n',
    replace: '  isRepeatable: () => true,\n',
    tests: [SIMULATION],
  },
  {
    name: 'a draft is replaced though it was begun while the planner was paused',
    file: 'src/plan/replace-draft.ts',
    find: '    await assertNotBegun(files, directory);\n  } catch',
    replace: '  } catch',
    tests: ['test/plan/replace-draft.test.ts'],
  },
];
