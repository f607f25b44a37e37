import type { PlantedBug } from './planted-bug.js';

/** What the service is asked and answers, and the sandbox in its place. */
export const ANSWER_BUGS: readonly PlantedBug[] = [
  {
    name: 'a 400 is sent again',
    file: 'src/service/decide-answer.ts',
    find: "INTERMEDIARY_STATUSES.has(status)) return { kind: 'refused', status };\n",
    replace: "INTERMEDIARY_STATUSES.has(status)) return { kind: 'again', ...plain, mayHaveBeenProcessed: false };\n",
    tests: ['test/service/decide-answer.test.ts'],
  },
  {
    name: 'Retry-After is taken for a proof that a request was not processed',
    file: 'src/service/decide-answer.ts',
    find: 'const isCertain = isOwn ||',
    replace: 'const isCertain = isOwn || retryAfterMs !== undefined ||',
    tests: ['test/service/decide-answer.test.ts', 'test/run/bad-answers.test.ts'],
  },
  {
    name: 'an error in JSON is believed whatever its form',
    file: 'src/service/answer.ts',
    find: 'return isObject(body) && OWN_FORMS[area](body);',
    replace: 'return isObject(body) && area in OWN_FORMS;',
    tests: ['test/service/decide-answer.test.ts'],
  },
  {
    name: 'what must not be repeated shares connections, where an answer too many is taken for that of the next request',
    file: 'src/service/transport.ts',
    find: 'call.hasOwnConnection === true ?',
    replace: 'call.hasOwnConnection === null ?',
    tests: ['test/service/surplus-answers.test.ts'],
  },
  {
    name: 'an answer counts that came before its request was sent whole',
    file: 'src/service/connector.ts',
    find: 'if (socket.writableLength === 0) return passed;',
    replace: 'if (socket.writableLength >= 0) return passed;',
    tests: ['test/service/surplus-answers.test.ts'],
  },
  {
    name: 'over TLS an answer that comes at once is taken for one before its request',
    file: 'src/service/connector.ts',
    find: 'if (!isSecondLook && ',
    replace: 'if (isSecondLook && ',
    tests: ['test/service/surplus-answers.test.ts'],
  },
  {
    name: 'a request leaves over a connection on which the server spoke before it was asked',
    file: 'src/service/connector.ts',
    find: "socket.on('readable', discard)",
    replace: "socket.on('pipe', discard)",
    tests: ['test/service/connector.test.ts'],
  },
  {
    name: 'each request waits for its own connection, so that a limit is not reached',
    file: 'src/service/connector.ts',
    find: 'if (!isBusy) return;',
    replace: 'if (isBusy || nowMs > 0) return;',
    tests: ['test/service/connector.test.ts'],
  },
  {
    name: 'a cancel that a firewall refuses goes on with the next batch, until all are in doubt',
    file: 'src/verbs/cancel.ts',
    find: "(error.code === 'in-doubt' && !isBarred(error))",
    replace: "error.code === 'in-doubt'",
    tests: ['test/faults/what-stands-between.test.ts'],
  },
  {
    name: 'a lost answer is taken for not sent',
    file: 'src/service/decide-answer.ts',
    find: "  return isRepeatable ? { kind: 'again', ...why, mayHaveBeenProcessed: true } : { kind: 'in-doubt', ...why };\n",
    replace: "  return { kind: 'again', ...why, mayHaveBeenProcessed: isRepeatable };\n",
    tests: ['test/service/decide-answer.test.ts'],
  },
  {
    name: 'a redirect is followed',
    file: 'src/service/transport.ts',
    find: "import { Agent, Client, type Dispatcher } from 'undici';\n",
    replace: `import { Agent as Plain, Client, type Dispatcher, interceptors } from 'undici';
class Agent extends Plain {
  constructor(options) {
    super(options);
    return this.compose(interceptors.redirect({ maxRedirections: 3 }));
  }
}
`,
    tests: ['test/service/transport.test.ts'],
  },
  {
    name: 'the sandbox changes its state before its ledger has the entry',
    file: 'src/sandbox/ledger.ts',
    find: '        await log.append(toLine(page));\n',
    replace:
      '        for (const row of entries) areaOf(page)?.apply(row as never, head.at);\n        await log.append(toLine(page));\n',
    tests: ['test/sandbox/ledger/disk.test.ts'],
  },
  {
    name: 'the sandbox writes behind what a full disk left of a line',
    file: 'src/sandbox/ledger.ts',
    find: 'if (isTorn) await',
    replace: 'if (!isTorn && file.bytes < 0) await',
    tests: ['test/sandbox/ledger/disk.test.ts'],
  },
  {
    name: 'a web page that is open in a browser reads the ledger of the sandbox',
    file: 'src/sandbox/sandbox-server.ts',
    find: 'origin !== undefined || (isLocal',
    replace: 'origin === null || (isLocal',
    tests: ['test/sandbox/control-api.test.ts'],
  },
  {
    name: 'every area of the sandbox has the errors of SMS',
    file: 'src/sandbox/sandbox-server.ts',
    find: 'findArea(areas, path)?.errors',
    replace: 'areas[0]?.errors',
    tests: ['test/sandbox/sandbox-server.test.ts'],
  },
];
