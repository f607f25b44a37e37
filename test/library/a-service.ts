import { onTestFinished } from 'vitest';
import { byArea } from '../../src/domain/areas.js';
import { createService, type Service, type ServiceOptions } from '../../src/library.js';

export const SECRETS = {
  apiKey: 'k3y-for-messages',
  gateway: 'k3y-of-the-gateway',
  chat: 'k3y-of-the-chat',
  campaign: { username: 'acme', dataToken: 't0ken-to-read', actionToken: 't0ken-to-act' },
};

/** A service with every area at one address, closed when the test is over. */
export function aService(base: string, options: Partial<ServiceOptions> = {}): Service {
  const service = createService({ account: 'acme', bases: byArea(() => base), credentials: SECRETS, ...options });
  onTestFinished(() => service.close());
  return service;
}
