/** The body of a request under `/_sandbox`, which arrives as bytes whatever its content type; undefined when it is not JSON. */
export function parseControlBody(body: unknown): unknown {
  try {
    return JSON.parse(body instanceof Buffer ? body.toString() : '');
  } catch {
    return undefined;
  }
}
