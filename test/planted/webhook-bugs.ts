import type { PlantedBug } from './planted-bug.js';

/** What the sandbox sends by itself, keeps in its ledger, and does wrong on purpose. */
export const WEBHOOK_BUGS: readonly PlantedBug[] = [
  {
    name: 'receipts of a batch that was cancelled leave',
    file: 'src/sandbox/ledger.ts',
    find: '    if (note !== undefined) area?.apply(note as never, at);\n',
    replace: '',
    tests: ['test/sandbox/sms/sms.test.ts'],
  },
  {
    name: 'an event of a conversation overtakes the one before it',
    file: 'src/sandbox/webhook-sender.ts',
    find: 'if (before !== undefined) await before;',
    replace: 'if (before === null) await before;',
    tests: ['test/sandbox/webhook/sender.test.ts', 'test/contract/events.test.ts'],
  },
  {
    name: 'an event has another id with each attempt',
    file: 'src/sandbox/gateway/gateway-bodies.ts',
    find: "x-8x8-event-id': id,",
    replace: "x-8x8-event-id': id + attempt,",
    tests: ['test/contract/events.test.ts'],
  },
  {
    name: 'a webhook that redirects counts as one that took its event',
    file: 'src/sandbox/webhook-sender.ts',
    find: 'answer.statusCode < 300',
    replace: 'answer.statusCode < 400',
    tests: ['test/sandbox/webhook/sender.test.ts'],
  },
  {
    name: 'a receipt leaves this machine though no one allowed it',
    file: 'src/domain/loopback.ts',
    find: '/^(?:localhost|',
    replace: '/^(?:.*localhost|',
    tests: ['test/domain/loopback.test.ts'],
  },
  {
    name: 'the sandbox writes behind the torn line that a killed one left',
    file: 'src/sandbox/ledger.ts',
    find: '    await log.cutTorn();\n',
    replace: '',
    tests: ['test/sandbox/sandbox.test.ts'],
  },
  {
    name: 'a fault strikes other rows than its seed says',
    file: 'src/sandbox/fault.ts',
    find: 'createRandom(fault.seed, -nth)',
    replace: 'createRandom(this.#faults.length, -nth)',
    tests: ['test/sandbox/faults/rows.test.ts'],
  },
  {
    name: 'a fault answers with a page where the service has an error of its own',
    file: 'src/sandbox/fault.ts',
    find: 'if (form.statuses[status] !== undefined && !isOfProxy)',
    replace: 'if (form.statuses[status] === undefined && !isOfProxy)',
    tests: ['test/sandbox/faults/areas.test.ts'],
  },
  {
    name: 'a chat that was cleared still has its messages',
    file: 'src/sandbox/chat.ts',
    find: 'clear: () => messagesOf.clear(),',
    replace: "clear: () => messagesOf.delete(''),",
    tests: ['test/sandbox/ledger/disk.test.ts'],
  },
  {
    name: 'a session that was cleared is still there',
    file: 'src/sandbox/verification.ts',
    find: '      sessions.clear();\n',
    replace: '',
    tests: ['test/sandbox/ledger/disk.test.ts'],
  },
  {
    name: 'the rate of an address is that of each subaccount',
    file: 'src/sandbox/sms/sms.ts',
    find: 'of: (ip) => ip },',
    replace: "of: (ip, { subAccountId = '' }) => ip + subAccountId },",
    tests: ['test/contract/sms.test.ts'],
  },
];
