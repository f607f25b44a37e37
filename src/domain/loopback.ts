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
