import { isNoTwin, isOfTheWire, testEveryFault, testFaultsAmongOthers } from './every-fault.js';

testEveryFault('sms', (fault) => isNoTwin(fault) && isOfTheWire(fault));
testFaultsAmongOthers('sms');
