const CONVERSATION_ID = '{conversationId}';
/** Characters that a URL path may hold unescaped: RFC 3986, "Path". */
const PATH = /^(?:\/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)+$/;

/** What is wrong with a path of the chat gateway, as "expected …"; undefined when it can be put behind the address. */
export function findPathFault(text: string, form: 'plain' | 'of-conversation'): string | undefined {
  if (!text.startsWith('/')) return 'expected a path that begins with /';
  const ids = text.split(CONVERSATION_ID).length - 1;
  if (form === 'of-conversation' && ids !== 1) return `expected a path with ${CONVERSATION_ID} in it once`;
  const path = form === 'plain' ? text : text.replace(CONVERSATION_ID, 'ID-0');
  // A segment of dots would change the resolved address.
  if (!PATH.test(path) || path.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part))) {
    const not = form === 'plain' ? 'blanks, braces' : 'blanks, other braces';
    return `expected a path such as /chat-gateway/v1/channels, without ${not}, ? and #, empty parts and parts of dots`;
  }
  return undefined;
}
