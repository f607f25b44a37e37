import { vi } from 'vitest';
import { ALL } from '../one-in.js';
import { testLastingFaults } from './every-fault.js';
import { isPlain, KINDS } from './kinds.js';

// They wait, more than they compute, until the run gives up.
vi.setConfig({ maxConcurrency: 20 });

for (const kind of KINDS) if (ALL || !isPlain(kind)) testLastingFaults(kind.name);
