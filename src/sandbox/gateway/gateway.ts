import type { Area, AreaDeps } from '../area.js';

export function createGatewayArea(_deps: AreaDeps): Area {
  return { name: 'gateway', routes: [], restore: () => {}, clear: () => {} };
}
