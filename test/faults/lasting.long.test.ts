import { vi } from 'vitest';
import { ROW_KINDS, type RowKind } from '../../src/domain/areas.js';
import { ALL } from '../one-in.js';
import { testLastingFaults } from './every-fault.js';

// They wait, more than they compute, until the run gives up.
vi.setConfig({ maxConcurrency: 20 });

for (const kind of Object.keys(ROW_KINDS) as RowKind[]) {
  if (ALL || kind === 'sms' || kind === 'contacts') testLastingFaults(kind);
}
