import { type Response, readJsonBody } from './answer.js';

/** Why the service refused: its own code and words where it gave them, else the HTTP status. Facts: "Error body". */
export function readErrorBody(response: Response): { code: string; message: string } {
  const body = readJsonBody(response);
  const field = (key: string): unknown =>
    typeof body === 'object' && body !== null ? Reflect.get(body, key) : undefined;
  const code = field('code');
  const message = field('message');
  return {
    code: typeof code === 'number' || typeof code === 'string' ? String(code) : `http-${response.status}`,
    message: typeof message === 'string' && message !== '' ? message : `The service answered HTTP ${response.status}`,
  };
}
