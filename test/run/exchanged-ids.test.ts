import { expect, it } from 'vitest';
import { aCsvOf, aFolder, aNumber, anSmsStep, aPlan } from '../plan/a-plan.js';
import { aRun, aScriptedService, reportOf, response } from './a-run.js';

const files = aFolder({ 'people.csv': aCsvOf(10) });

it('rows whose ids an answer exchanged are in doubt, whatever it says of them: none is reported accepted or rejected', async () => {
  const made = await aPlan({ files, job: { steps: [anSmsStep({ batchSize: 10 })] } });
  const service = aScriptedService(({ clientBatchId, body }) => {
    const sent = body.messages ?? [];
    const messages = sent.map(({ destination }, at) => ({
      umid: `u-${at}`,
      // Of the next message.
      clientMessageId: sent[(at + 1) % sent.length]?.clientMessageId,
      destination: destination.slice(1),
      status: { code: at < 8 ? 'QUEUED' : 'REJECTED', description: 'As it is' },
    }));
    return response(200, { batchId: 'b', clientBatchId, acceptedCount: 8, rejectedCount: 2, messages });
  });

  await aRun({ made, service });

  const { balance, directory, steps, exitCode } = await reportOf(made);
  expect([balance.inDoubt, balance.accepted, balance.rejected, exitCode]).toEqual([10, 0, 0, 3]);
  const inDoubt = made.disk.readText(`${directory}/${steps[0]?.files['in-doubt']}`);
  expect(inDoubt).toContain('contradiction,the answer names a number other than the one that was sent');
  expect(
    inDoubt
      .split('\n')
      .slice(1, 11)
      .map((line) => line.split(',')[0]),
  ).toEqual(Array.from({ length: 10 }, (_, at) => aNumber(at)));
});
