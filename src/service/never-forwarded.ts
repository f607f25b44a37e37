import type { Response } from './answer.js';

/** What a proxy answers with HTTP 503 when it had nobody to pass the request on to: the whole body, and where that is documented. */
interface ProxyPage {
  readonly proxy: string;
  readonly words: string;
  readonly page: string;
}

/**
 * Only words that are certain. Envoy's "upstream connect error or disconnect/reset before headers" is not among them: it comes
 * also when the request had arrived and the connection broke. Neither are the pages of nginx, HAProxy and the clouds: some of
 * them come after a retry, or are the service's own page passed on.
 */
export const NEVER_FORWARDED: readonly ProxyPage[] = [
  {
    proxy: 'Envoy',
    words: 'no healthy upstream',
    page: 'Envoy documentation, "Access logging", response flag UH: no healthy upstream hosts in upstream cluster',
  },
];

/** Whether a 503 says that no byte of its request reached the service. Any other text around the words makes them another's. */
export function wasNeverForwarded({ body }: Response): boolean {
  if (body.length > MAX_PAGE_BYTES) return false;
  const text = body.toString('utf8').trim();
  return NEVER_FORWARDED.some(({ words }) => words === text);
}

const MAX_PAGE_BYTES = 256;
