import { vi } from 'vitest';
import { ALL } from '../one-in.js';
import { testLastingFaults } from './every-fault.js';

// They wait, more than they compute, until the run gives up.
vi.setConfig({ maxConcurrency: 20 });

testLastingFaults('sms');
testLastingFaults('contacts');
if (ALL) {
  testLastingFaults('conversations');
  testLastingFaults('verification.start');
  testLastingFaults('verification.check');
}
