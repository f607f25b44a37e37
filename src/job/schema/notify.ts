import { z } from 'zod';
import { writtenSecret } from './credentials.js';
import { webAddress } from './values.js';
import { expected } from './words.js';

/** How `run` and `apply` can end. */
export const NOTIFY_EVENTS = ['failure', 'in-doubt', 'success', 'missing-input'] as const;
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

/** Where the end of a run is posted to. It may be a secret: an address is all that one needs to post to a chat. */
export const notifyAddress = webAddress().refine(
  (text) => !hasPassword(text),
  'expected an address without user name and password',
);

export const writtenNotify = z
  .strictObject({
    url: z
      .union([notifyAddress, writtenSecret('address')], {
        error: expected('an address that begins with https://, or { env: NAME } or { file: PATH } where one is kept'),
      })
      .describe('Address that is posted to: https (http for this machine), or { env: NAME } or { file: PATH }.'),
    on: z
      .array(z.enum(NOTIFY_EVENTS))
      .min(1)
      .default(['failure', 'in-doubt'])
      .describe('Ends that are posted. missing-input is a failure too; named alone, other failures are not posted.'),
  })
  .describe('Where the figures of `run` and `apply` are posted as JSON once they end.');

function hasPassword(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username !== '' || password !== '';
}
