import { ALL } from '../one-in.js';
import { isNoTwin, isRead, testChosenFaults, testFaultsAmongOthers } from './every-fault.js';

testChosenFaults('conversations', isRead);
testChosenFaults('verification.start', isRead);
// What became of a check is asked.
testChosenFaults('verification.check', isNoTwin);
if (ALL) {
  testFaultsAmongOthers('conversations');
  testFaultsAmongOthers('verification.start');
  testFaultsAmongOthers('verification.check');
}
