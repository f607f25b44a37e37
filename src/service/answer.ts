/** The result of one request: a whole answer, or how it failed. */
export type Answer = Response | TransportFailure;

export interface Response {
  readonly kind: 'response';
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface TransportFailure {
  readonly kind: 'failure';
  /** False only when it is certain that no byte of the request was processed. */
  readonly mayHaveBeenProcessed: boolean;
  /** Short and free of secrets: "no answer within 60 s (UND_ERR_HEADERS_TIMEOUT)", or a code that says as much, `ECONNREFUSED`. */
  readonly reason: string;
}

/** The body as JSON; undefined when it is empty or something else. */
export function readJsonBody(response: Response): unknown {
  try {
    return JSON.parse(response.body.toString('utf8'));
  } catch {
    return undefined;
  }
}
