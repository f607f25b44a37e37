import { afterAll } from 'vitest';
import { closeOpened } from './opened.js';

// Vitest runs this after every file, also where files share their modules, which register a hook of their own for the first one alone.
afterAll(closeOpened);
