import type { Response } from './answer.js';

/** A proxy's HTTP 503 body when it had no upstream to forward to, and where that is documented. */
interface ProxyPage {
  readonly proxy: string;
  readonly words: string;
  readonly page: string;
}

/**
 * Only unambiguous pages. Envoy's "upstream connect error or disconnect/reset before headers" is not among them: it
 * comes also when the request had arrived and the connection broke. Neither are the pages of nginx, HAProxy and the
 * clouds: some of them follow a retry, or are the service's own page.
 */
export const NEVER_FORWARDED: readonly ProxyPage[] = [
  {
    proxy: 'Envoy',
    words: 'no healthy upstream',
    page: 'Envoy documentation, "Access logging", response flag UH: no healthy upstream hosts in upstream cluster',
  },
];

/** Whether a 503 says that no byte of its request reached the service. The body must equal the page exactly. */
export function wasNeverForwarded({ body }: Response): boolean {
  if (body.length > MAX_PAGE_BYTES) return false;
  const text = body.toString('utf8').trim();
  return NEVER_FORWARDED.some(({ words }) => words === text);
}

const MAX_PAGE_BYTES = 256;
