import { isNoTwin, testEveryFault, testFaultsAmongOthers } from './every-fault.js';

testEveryFault('sms', isNoTwin);
testFaultsAmongOthers('sms');
