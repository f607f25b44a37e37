import { ALL } from '../one-in.js';
import { isNoTwin, isRead, testChosenFaults, testFaultsAmongOthers } from './every-fault.js';
import { isPlain, KINDS } from './kinds.js';

for (const { name, isAsked } of KINDS.filter(isPlain)) {
  // Where what became of a request is asked, more depends on whether it was processed.
  testChosenFaults(name, isAsked ? isNoTwin : isRead);
  if (ALL) testFaultsAmongOthers(name);
}
