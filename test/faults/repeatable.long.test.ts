import { ALL } from '../one-in.js';
import { isNoTwin, isOfTheWire, testEveryFault, testFaultsAmongOthers } from './every-fault.js';
import { KINDS } from './kinds.js';

for (const { name } of KINDS.filter(({ isRepeatable }) => isRepeatable)) {
  testEveryFault(name, (fault) => isNoTwin(fault) && isOfTheWire(fault));
  if (ALL) testFaultsAmongOthers(name);
}
