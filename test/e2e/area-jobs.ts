import { aJob } from './a-job.js';
import type { Workspace } from './a-workspace.js';

type Changes = Readonly<Record<string, unknown>>;

/** Requests come one by one, in the order of the rows. */
export const IN_ORDER = { requestsPerSecond: 100, concurrency: 1 };

/** A job whose steps may use every area of the workspace's sandbox; the keys stand in files beside it. */
export function aJobOfAreas(
  workspace: Workspace,
  steps: readonly object[],
  { service, ...changes }: Changes & { service?: Changes } = {},
): object {
  const { origin, credentials } = workspace.sandbox;
  const { gatewayKey, chatKey, campaign } = credentials;
  const secret = (name: string, text: string) => {
    workspace.write(name, text);
    return { file: name };
  };
  return aJob(workspace, {
    steps,
    ...changes,
    service: {
      credentials: {
        apiKey: { env: 'VOLLEY_API_KEY' },
        gateway: { apiKey: secret('gateway.key', gatewayKey) },
        chat: { apiKey: secret('chat.key', chatKey) },
        campaign: {
          username: campaign.username,
          dataToken: secret('data.token', campaign.dataToken),
          actionToken: secret('action.token', campaign.actionToken),
        },
      },
      bases: {
        sms: origin,
        contacts: origin,
        verification: origin,
        gateway: origin,
        campaign: origin,
        chat: origin,
      },
      ...service,
    },
  });
}
