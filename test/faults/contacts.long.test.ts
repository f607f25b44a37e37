import { ALL } from '../one-in.js';
import { isNoTwin, isOfTheWire, testEveryFault, testFaultsAmongOthers } from './every-fault.js';

testEveryFault('contacts', (fault) => isNoTwin(fault) && isOfTheWire(fault));
if (ALL) testFaultsAmongOthers('contacts');
