import { ROW_KINDS, type RowKind } from '../../src/domain/areas.js';
import { ALL } from '../one-in.js';
import { isNoTwin, isRead, testChosenFaults, testFaultsAmongOthers } from './every-fault.js';
import { aKind } from './kinds.js';

for (const kind of Object.keys(ROW_KINDS) as RowKind[]) {
  if (kind === 'sms' || kind === 'contacts') continue;
  // Where what became of a request is asked, more depends on whether it was processed.
  testChosenFaults(kind, aKind(kind).isAsked ? isNoTwin : isRead);
  if (ALL) testFaultsAmongOthers(kind);
}
