import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { halvesOf, type OpenRequest } from '../../src/journal/replay.js';
import { clientBatchIdOf } from '../../src/kinds/ids.js';
import { smsKind } from '../../src/kinds/sms/sms.js';
import { aPart, messageIdOf, rowsOf } from './a-part.js';

interface Body {
  readonly clientBatchId: string;
  readonly template: object;
  readonly messages: readonly { readonly clientMessageId: string; readonly text: string }[];
}

/** The whole body of a request for so many rows. */
function aBody(count: number, first: number): Body {
  const whole = aPart({ first, requestFirst: first, count });
  const messages = rowsOf(whole).map((row) => ({ clientMessageId: messageIdOf(whole, row), text: `Hi ${row} “é”` }));
  return { clientBatchId: clientBatchIdOf(whole), template: { source: 'ACME', encoding: 'AUTO' }, messages };
}

/** Splits in halves, and these again, as `cuts` says, and gives back the parts that remain. */
function splitParts(count: number, first: number, cuts: readonly boolean[]): OpenRequest[] {
  const whole: OpenRequest = { step: 1, request: 3, part: '', line: [0, 1], rows: [first, count], isInFlight: false };
  const waiting = [whole];
  const ended: OpenRequest[] = [];
  for (let at = 0; waiting.length > 0; at++) {
    const part = waiting.shift()!;
    if (part.rows[1] > 1 && (at === 0 || cuts[at] === true)) waiting.push(...halvesOf(part));
    else ended.push(part);
  }
  return ended;
}

describe('body of a part of a batch', () => {
  it('split again and again covers each row exactly once, with its own id and text, under a new clientBatchId', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 40 }),
        fc.nat({ max: 1000 }),
        fc.array(fc.boolean(), { maxLength: 60 }),
        (count, first, cuts) => {
          const whole = aBody(count, first);
          const parts = splitParts(count, first, cuts);
          const bodies = parts.map(({ part, rows }): Body => {
            const bytes = smsKind.splitBody(
              Buffer.from(JSON.stringify(whole)),
              aPart({ part, first: rows[0], requestFirst: first, count: rows[1] }),
            );
            const body: Body = JSON.parse(bytes.toString());
            expect(body.messages).toEqual(whole.messages.slice(rows[0] - first, rows[0] - first + rows[1]));
            expect(body.template).toEqual(whole.template);
            expect(Object.keys(body)).toEqual(Object.keys(whole));
            return body;
          });
          const sent = bodies.flatMap(({ messages }) => messages.map((each) => each.clientMessageId));
          expect(sent.sort()).toEqual(whole.messages.map((each) => each.clientMessageId).sort());
          const ids = [whole.clientBatchId, ...bodies.map(({ clientBatchId }) => clientBatchId)];
          expect(new Set(ids).size).toBe(ids.length);
        },
      ),
    );
  });

  it('is the same bytes each time: a part that is sent again keeps its id', () => {
    const body = Buffer.from(JSON.stringify(aBody(4, 0)));
    const half = aPart({ part: '0', first: 0, requestFirst: 0, count: 2 });
    expect(smsKind.splitBody(body, half).equals(smsKind.splitBody(body, half))).toBe(true);
  });
});
