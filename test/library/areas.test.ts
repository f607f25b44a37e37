import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import type { LedgerEntry } from '../../src/sandbox/ledger/ledger.js';
import { aSandboxService } from './a-service.js';

describe('a service, before the sandbox', () => {
  test('sms: a batch is accepted, and each message has its id', async () => {
    const { service, sandbox } = await aSandboxService();
    const messages = [{ destination: '+6591234567', clientMessageId: 'm-1' }];
    const answer = await service.sms.sendBatch({
      messages,
      template: { source: 'ACME', text: 'Hi' },
      includeMessagesInResponse: true,
    });
    expect(answer).toMatchObject({ acceptedCount: 1, messages: [{ clientMessageId: 'm-1', code: 'QUEUED' }] });
    const entries: LedgerEntry[] = [];
    for await (const entry of sandbox.readLedger()) entries.push(entry);
    expect(entries).toMatchObject([{ area: 'sms', destination: '+6591234567', text: 'Hi' }]);
  });

  test('verification: a code is sent, a wrong one counts, the right one verifies', async () => {
    const { service, sandbox } = await aSandboxService();
    const { sessionId } = await service.verification.createSession({ destination: '+6591234567' });
    const shown = await request(`${sandbox.origin}/_sandbox/sessions/${sessionId}`);
    const { code } = (await shown.body.json()) as { code: string };
    // The service would read the session, and that of one verified before looks like a check.
    const none = service.verification.checkCode({ sessionId, code: undefined as unknown as string });
    await expect(none).rejects.toMatchObject({ code: 'bad-input' });
    const wrong = await service.verification.checkCode({ sessionId, code: `${code}0` });
    expect(wrong).toMatchObject({ status: 'WAITING', attempt: 1 });
    expect(await service.verification.checkCode({ sessionId, code })).toMatchObject({ status: 'VERIFIED' });
    expect(await service.verification.readSession({ sessionId })).toMatchObject({ status: 'VERIFIED' });
  });

  test('gateway: from a webhook to a conversation that is updated and written into', async () => {
    const { service, sandbox } = await aSandboxService();
    const { gateway } = service;
    const { webhookId } = await gateway.createWebhook({ name: 'bot', url: `${sandbox.origin}/_sandbox/ledger` });
    const { channelId } = await gateway.createChannel({ name: 'bot', webhookId, queue: '100' });
    const { conversationId } = await gateway.createConversation({ channelId, user: { name: 'Mei' } });
    const change = { conversationId, assignment: { type: 'queue', id: '101' } } as const;
    expect(await gateway.updateConversation(change)).toMatchObject({ conversationId });
    expect(await gateway.sendMessage({ conversationId, text: 'Hello' })).toMatchObject({ conversationId });
  });

  test('a refusal is a ServiceError with the code of the service', async () => {
    const { service } = await aSandboxService();
    const refused = service.contacts.createContact({ firstName: 'Mei', addresses: {} });
    await expect(refused).rejects.toMatchObject({ name: 'ServiceError', code: 'refused', status: 400 });
  });
});
