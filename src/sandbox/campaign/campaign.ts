import type { Area, AreaDeps } from '../area.js';

export function createCampaignArea(_deps: AreaDeps): Area {
  return { name: 'campaign', routes: [], restore: () => {}, clear: () => {} };
}
