import { provisionStep } from './send/provision-step.js';
import { type PartToSend, RequestReader } from './send/request-reader.js';
import type { StepContext } from './send/send-context.js';
import { SendingHours } from './send/sending-hours.js';
import { SendingStages } from './send/sending-stages.js';
import { StepRunner } from './step-runner.js';

/** Sends the open requests of a step, then those never begun, until all are settled or the run is to stop. */
export async function applyStep(context: StepContext): Promise<void> {
  const { areas, deps, directory, kind, planned, progress, step, stop } = context;
  const provisionedIds = await provisionStep(context);
  if (provisionedIds === undefined) return;
  const reader = await RequestReader.open(deps.files, directory, planned, progress);
  const lane = deps.createLane({
    area: kind.area,
    limits: step.limits,
    lastSentMsAgo: areas.lastSentMsAgo(kind.area),
    lastSize: areas.lastSize,
    signal: stop.nothingNew,
  });
  try {
    const begun: PartToSend[] = [];
    for (const open of progress.open.values()) begun.push(await reader.readAgain(open));
    const { window } = step.kind === 'sms' ? step : { window: undefined };
    const hours = window && new SendingHours(window, deps.clock, context.service.timeouts);
    const stages = planned.stages && new SendingStages(step.ramp ?? [], context);
    const runner = { ...context, kind: kind.forRun?.() ?? kind, provisionedIds, hours, stages };
    await new StepRunner(runner, reader, lane).run(begun);
  } finally {
    await lane.close();
    areas.note(kind.area);
    await reader.close();
  }
}
