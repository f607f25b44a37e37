import { describe, expect, it } from 'vitest';
import { escapeServiceText } from '../../src/report/outputs.js';
import { anSmsStep, aPlan } from '../plan/a-plan.js';
import { aRun, aScriptedService, batchAnswer, reportOf, response, type Sent } from '../run/a-run.js';

const HOSTILE = 'bad\u001B[31m\r\nto\u0000 +65 9123 4567\u202Egpj\u2028\uD800';
const SAFE = 'bad\\u{1b}[31m\\u{d}\\u{a}to\\u{0} +65******67\\u{202e}gpj\\u{2028}\\u{d800}';

describe('the words of the service', () => {
  it('stand in one line, with numbers masked, and letters of all languages as they are', () => {
    expect(escapeServiceText(HOSTILE)).toBe(SAFE);
    const words = 'Nachricht „angenommen“, 已接受, क्‍ष, 👩‍👧';
    expect(escapeServiceText(words)).toBe(words);
  });

  it('are so in the reasons and descriptions of every output', async () => {
    const made = await aPlan({ job: { steps: [anSmsStep({ batchSize: 1 })] } });
    const answer = (one: Sent, code: string) => {
      const batch = batchAnswer(one);
      const messages = batch.messages.map((message) => ({ ...message, status: { code, description: HOSTILE } }));
      const accepted = code === 'QUEUED' ? 1 : 0;
      return response(200, { ...batch, messages, acceptedCount: accepted, rejectedCount: 1 - accepted });
    };
    await aRun({ made, service: aScriptedService((one) => answer(one, one.rows[0] === 0 ? 'QUEUED' : 'REJECTED')) });
    await reportOf(made);
    for (const output of ['results', 'rejections']) {
      const text = made.disk.readText(`${made.directory}/1-sms.${output}.csv`);
      expect(text, output).toContain(SAFE);
      expect(text, output).not.toContain('\u001B');
    }
  });
});
