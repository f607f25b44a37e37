import { messageOf, UserError } from './errors.js';

/** Whether a host is this machine itself. A URL has it in one form, however it was written: `http://2130706433/` is 127.0.0.1. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|\[?::1\]?|127(?:\.\d{1,3}){3})$/.test(host);
}

/** Whether a call to that address stays on this machine. No other name than `localhost` does: resolving it would leave the machine. */
export function isOnThisMachine(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return /^https?:$/.test(protocol) && isLoopback(hostname);
}

/** Refuses a port or a host on which a server cannot listen, with what the system says of it. `doing` completes "Cannot …". */
export function refuseAddress(
  error: unknown,
  doing: string,
  hint = 'Choose another --port, or 0 for any free one; --host must be an address of this machine.',
): UserError {
  const said = messageOf(error);
  return new UserError('bad-flag', `Cannot ${doing}: ${said}, expected a free address of this machine`, { hint });
}
