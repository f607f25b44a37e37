import { ALL, isNoTwin, isOfTheWire, testEveryFault, testFaultsAmongOthers } from './every-fault.js';

testEveryFault('contacts', (fault) => isNoTwin(fault) && isOfTheWire(fault));
if (ALL) testFaultsAmongOthers('contacts');
