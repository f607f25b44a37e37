import type { Area, AreaDeps } from '../area.js';

export function createChatArea(_deps: AreaDeps): Area {
  return { name: 'chat', routes: [], restore: () => {}, clear: () => {} };
}
