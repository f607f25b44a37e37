import type { PlantedBug } from './planted-bug.js';

/** What `volley listen` takes, keeps and refuses. */
export const LISTEN_BUGS: readonly PlantedBug[] = [
  {
    name: 'an event without the secret is taken',
    file: 'src/listen/listen-server.ts',
    find: "typeof given === 'string' && isSecret(given)",
    replace: "typeof given !== 'string' || isSecret(given)",
    tests: ['test/listen/delivery-auth.test.ts'],
  },
  {
    name: 'an event that comes twice at once is written twice',
    file: 'src/listen/event-file.ts',
    find: 'if (writing !== undefined || known.has(id))',
    replace: 'if (known.has(id))',
    tests: ['test/listen/durability.test.ts'],
  },
  {
    name: 'an event is written behind the torn line of a killed listener, and lost with it',
    file: 'src/listen/event-file.ts',
    find: '      await file.truncate(goodBytes);\n',
    replace: '',
    tests: ['test/listen/durability.test.ts'],
  },
  {
    name: 'a STOP is acknowledged whose line went to a file that was replaced',
    file: 'src/storage/path-appender.ts',
    find: 'found.inode === inode && found.bytes >= bytes',
    replace: 'found.inode !== inode || found.bytes >= bytes',
    tests: ['test/listen/opt-outs.test.ts'],
  },
  {
    name: 'an event is acknowledged that a full disk did not take',
    file: 'src/listen/listen-server.ts',
    find: '      return NOT_WRITTEN;\n    } finally',
    replace: "      return [200, 'written'];\n    } finally",
    tests: ['test/listen/durability.test.ts'],
  },
  {
    name: 'the body of a delivery has no bound',
    file: 'src/listen/listen-server.ts',
    find: 'if (bytes + piece.length > maxBytes) return',
    replace: 'if (maxBytes === 0) return',
    tests: ['test/listen/listen-limits.test.ts'],
  },
  {
    name: 'pieces of a body gather before they are counted',
    file: 'src/listen/listen-server.ts',
    find: '    request.read(0);\n',
    replace: '',
    tests: ['test/listen/listen-limits.test.ts'],
  },
  {
    name: 'a second error of the server ends the process',
    file: 'src/listen/listener.ts',
    find: "server.on('error', (error)",
    replace: "server.once('error', (error)",
    tests: ['test/listen/listen-limits.test.ts'],
  },
  {
    name: 'requests sent ahead of an answer gather without a limit',
    file: 'src/listen/listen-server.ts',
    find: 'if (response.socket === null)',
    replace: 'if (response.socket === undefined)',
    tests: ['test/listen/listen-limits.test.ts'],
  },
  {
    name: 'zeros that a crash left at the end of a file refuse it',
    file: 'src/listen/event-file.ts',
    find: ' || tail.every((byte) => byte === 0);',
    replace: ';',
    tests: ['test/listen/durability.test.ts'],
  },
  {
    name: 'a pruned run gets numbers back by a late receipt',
    file: 'src/settle/run-receipts.ts',
    find: 'if (!(await this.#hasRows(run))) throw',
    replace: 'if (run === undefined) throw',
    tests: ['test/e2e/prune.test.ts'],
  },
  {
    name: 'receipts that a killed listener left are joined to no run',
    file: 'src/verbs/listen.ts',
    find: 'for await (const { plan, directory } of runs.listBehind())',
    replace: 'for (const { plan, directory } of [] as { plan: { id: string }; directory: string }[])',
    tests: ['test/e2e/listener-killed.long.test.ts'],
  },
];
