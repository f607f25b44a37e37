import type { PlantedBug } from './planted-bug.js';

/** What `volley listen` takes, keeps and refuses. */
export const LISTEN_BUGS: readonly PlantedBug[] = [
  {
    name: 'an event without the secret is taken',
    file: 'src/listen/delivery-auth.ts',
    find: "typeof given === 'string' && isSecret(given)",
    replace: "typeof given !== 'string' || isSecret(given)",
    tests: ['test/listen/delivery-auth.test.ts'],
  },
  {
    name: 'an event that comes twice at once is written twice',
    file: 'src/listen/intake.ts',
    find: 'if (writing !== undefined || known.has(id))',
    replace: 'if (known.has(id))',
    tests: ['test/listen/durability.test.ts'],
  },
  {
    name: 'an event is written behind the torn line of a killed listener, and lost with it',
    file: 'src/listen/listener.ts',
    find: '      await file.truncate(goodBytes);\n',
    replace: '',
    tests: ['test/listen/durability.test.ts'],
  },
  {
    name: 'an event is acknowledged that a full disk did not take',
    file: 'src/listen/listen-server.ts',
    find: "    } catch {\n      return answer(reply, 503, 'events cannot be written');",
    replace: "    } catch {\n      return answer(reply, 200, 'written');",
    tests: ['test/listen/durability.test.ts'],
  },
  {
    name: 'the body of a delivery has no bound',
    file: 'src/listen/read-body.ts',
    find: 'if (bytes > maxBytes)',
    replace: 'if (maxBytes === 0)',
    tests: ['test/listen/listen-limits.test.ts'],
  },
  {
    name: 'requests sent ahead of an answer gather without a limit',
    file: 'src/listen/listen-server.ts',
    find: 'if (reply.raw.socket === null)',
    replace: 'if (reply.raw.socket === undefined)',
    tests: ['test/listen/listen-limits.test.ts'],
  },
];
