import { isNoTwin, isOfTheWire, testEveryFault, testFaultsAmongOthers } from './every-fault.js';
import { KINDS } from './kinds.js';

for (const { name } of KINDS.filter(({ rowsPerRequest }) => rowsPerRequest > 1)) {
  testEveryFault(name, (fault) => isNoTwin(fault) && isOfTheWire(fault));
  testFaultsAmongOthers(name);
}
