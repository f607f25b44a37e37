import type { Area, AreaDeps } from '../area.js';

export function createVerificationArea(_deps: AreaDeps): Area {
  return { name: 'verification', routes: [], restore: () => {}, clear: () => {} };
}
