import { textOption } from './verb.js';

export const port = (otherwise: string) => ({ ...textOption('0 takes any free port'), default: otherwise });
export const host = {
  describe: 'Address to listen on',
  type: 'string',
  default: '127.0.0.1',
  requiresArg: true,
} as const;
