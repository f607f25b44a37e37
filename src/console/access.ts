import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { UserError } from '../domain/errors.js';
import { parseJson } from '../domain/is-object.js';
import { foldPerson } from '../job/schema/approvers.js';
import { sha256Of } from '../plan/format/sealed-json.js';
import type { Clock } from '../ports/clock.js';
import type { Files } from '../storage/files.js';

/** How long each opens the console, by its directory in `.console/`: names that no campaign has. */
const LIFE_MS = { '.links': 10 * 60_000, '.sessions': 12 * 3_600_000 };
type Kept = keyof typeof LIFE_MS;

/** Stand in every answer. The console's own script only sets texts and attributes; nothing else runs, and no page is framed. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
    "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  // Without one, the posts of its own forms would say `Origin: null`.
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * The status and the sentence by which a request is refused before anything of it is looked at; undefined where it comes from a page of this very console. It answers to the
 * host of `origin` alone: a foreign name that was made to lead here (DNS rebinding) sends no Origin with a GET.
 */
export function refuseForeign(
  { method, headers }: { readonly method: string; readonly headers: IncomingHttpHeaders },
  origin: string,
): [number, string] | undefined {
  if (headers.host !== new URL(origin).host) return [421, `This console answers to ${origin} alone.`];
  if (method === 'GET' || method === 'HEAD') return undefined;
  const site = headers['sec-fetch-site'];
  if (headers.origin === origin && (site === undefined || site === 'same-origin')) return undefined;
  return [403, 'The request does not come from a page of this console. Nothing was done.'];
}

export interface Visit {
  readonly formToken: string;
  /** Who of a team has signed in; undefined where one person uses the console, by a link. */
  readonly user: User | undefined;
  readonly isSignedIn: boolean;
}

export const NO_VISIT: Visit = { formToken: '', user: undefined, isSignedIn: false };

type AccessEnv = { readonly files: Files; readonly clock: Clock; readonly team?: Team | undefined };

export type Access = ReturnType<typeof createAccess>;

/**
 * Who may use a console: the one who opens a link, which holds 32 random bytes and works once, within ten minutes; or those of a team. The
 * browser then has a cookie for twelve hours. Links and sessions are files that are named by a digest, so that no file here opens anything.
 */
export function createAccess(directory: string, env: AccessEnv) {
  const secret = randomBytes(32).toString('base64url');

  async function createLink(): Promise<string> {
    return create('.links');
  }

  /** The cookie's value for a link that has not been used; undefined for any other. */
  async function enter(link: string): Promise<string | undefined> {
    const path = pathOf('.links', link);
    if (!(await isFresh(path, LIFE_MS['.links']))) return undefined;
    const used = `${path}.used`;
    try {
      // Where two requests bring it at once, one can rename it.
      await env.files.rename(path, used);
    } catch {
      return undefined;
    }
    await env.files.remove(used);
    return create('.sessions');
  }

  /** The cookie's value for a person of the team; undefined for another password. */
  async function signIn(name: string, password: string): Promise<string | undefined> {
    const member = await env.team?.check(name, password);
    return member === undefined ? undefined : create('.sessions', JSON.stringify([member.name, member.digest]));
  }

  async function signOut(cookies: string | undefined, name: string): Promise<void> {
    const value = readCookie(cookies, name);
    if (value !== '') await env.files.remove(pathOf('.sessions', value));
  }

  /** Whom a proxy in front of the console names in a header, if that is a person of the team. */
  async function trust(header: string): Promise<Visit | undefined> {
    // Proxies write UTF-8; Node reads each byte as a character.
    const user = await env.team?.find(Buffer.from(header, 'latin1').toString());
    return user === undefined
      ? undefined
      : { user, formToken: sha256Of(`form ${secret} ${user.name}`), isSignedIn: false };
  }

  /** `cookies`: the header; `name`: of our own. */
  async function find(cookies: string | undefined, name: string): Promise<Visit | undefined> {
    const value = readCookie(cookies, name);
    const path = pathOf('.sessions', value);
    if (value === '' || !(await isFresh(path, LIFE_MS['.sessions']))) return undefined;
    const formToken = sha256Of(`form ${value}`);
    const kept = await env.files.readText(path);
    // A visit of a team opens no console that was started without one.
    if (env.team === undefined) return kept === '' ? { ...NO_VISIT, formToken } : undefined;
    const [member = '', digest = ''] = parseJson(kept) ?? [];
    const user = await env.team.find(member);
    return user === undefined || user.digest !== digest ? undefined : { formToken, user, isSignedIn: true };
  }

  async function create(kind: Kept, about = ''): Promise<string> {
    const secret = randomBytes(32).toString('base64url');
    await env.files.makeDirectory(join(directory, kind));
    await removeOld();
    await env.files.writeWhole(pathOf(kind, secret), about);
    return secret;
  }

  async function removeOld(): Promise<void> {
    for (const [kind, ms] of Object.entries(LIFE_MS)) {
      const own = join(directory, kind);
      for (const name of await env.files.list(own)) {
        const path = join(own, name);
        if (!(await isFresh(path, ms))) await env.files.remove(path);
      }
    }
  }

  function pathOf(kind: Kept, secret: string): string {
    return join(directory, kind, sha256Of(secret));
  }

  async function isFresh(path: string, ms: number): Promise<boolean> {
    const found = await env.files.stat(path);
    return found !== undefined && env.clock.now() - found.modifiedMs < ms;
  }

  return { createLink, enter, signIn, signOut, trust, find };
}

export function isSame(given: unknown, expected: string): boolean {
  return timingSafeEqual(Buffer.from(sha256Of(String(given))), Buffer.from(sha256Of(expected)));
}

/** `Max-Age` in seconds. The port is in the name: browsers send cookies of one port to all others of the host. */
export function writeCookie(origin: string, value: string, maxAgeS = LIFE_MS['.sessions'] / 1000): string {
  const safe = isHttps(origin) ? 'Secure; SameSite=Lax' : 'SameSite=Strict';
  return `${nameCookie(origin)}=${value}; HttpOnly; ${safe}; Path=/; Max-Age=${maxAgeS}`;
}

export function nameCookie(origin: string): string {
  return isHttps(origin) ? '__Host-volley' : `volley-${new URL(origin).port}`;
}

function isHttps(origin: string): boolean {
  return origin.startsWith('https://');
}

function readCookie(cookies: string | undefined, name: string): string {
  const own = (cookies ?? '').split('; ').find((each) => each.startsWith(`${name}=`));
  return own?.slice(name.length + 1) ?? '';
}

/** What each may do contains what those before it may: look; write, check and test; approve what another person planned, and send it. */
export const ROLES = ['viewer', 'author', 'approver'] as const;

export type Role = (typeof ROLES)[number];

export interface User {
  readonly name: string;
  readonly role: Role;
}

interface Member extends User {
  readonly digest: string;
}

const HEADER = 'name,role,password_sha256';
const PASSWORD_BYTES = 16;

export type Team = ReturnType<typeof openTeam>;

/**
 * Who may use a console that several people share: a CSV file, read at every visit, so that a line that is changed or taken out counts at
 * once. Volley makes the passwords, of 128 random bits: no list of words finds one by its digest.
 */
export function openTeam(path: string, files: Files) {
  async function find(name: string): Promise<Member | undefined> {
    return (await read()).find((each) => foldPerson(each.name) === foldPerson(name));
  }

  async function list(): Promise<User[]> {
    return (await read()).map(({ name, role }) => ({ name, role }));
  }

  async function check(name: string, password: string): Promise<Member | undefined> {
    const found = await find(name);
    return found?.digest === sha256Of(password) ? found : undefined;
  }

  /** The new password of a person who is added, or who has another role or password from now on. */
  async function add({ name, role }: User): Promise<string> {
    if (!/^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,59}$/u.test(name))
      throw new UserError(
        'bad-flag',
        `Cannot add ${JSON.stringify(name)}: expected a name of letters, digits, blanks and . _ @ -`,
      );
    const password = randomBytes(PASSWORD_BYTES).toString('hex');
    const others = (await read()).filter((each) => foldPerson(each.name) !== foldPerson(name));
    const lines = [...others, { name, role, digest: sha256Of(password) }].map((each) =>
      [each.name, each.role, each.digest].join(','),
    );
    await files.writeWhole(path, `${[HEADER, ...lines].join('\n')}\n`);
    return password;
  }

  /** Refuses a team in which a plan waits for a second person who is not there. */
  async function assertTwoApprove(): Promise<void> {
    const approvers = (await read()).filter(({ role }) => role === 'approver');
    if (approvers.length >= 2) return;
    throw new UserError(
      'bad-flag',
      `Cannot start the console: ${path} has ${approvers.length === 1 ? '1 person who approves' : 'no person who approves'}, expected 2`,
      {
        hint: 'Approvers do not approve their own plans. Add one: volley console --users FILE --add NAME --role approver',
      },
    );
  }

  async function read(): Promise<Member[]> {
    const [header, ...lines] = ((await files.readText(path)) ?? HEADER).trim().split(/\r?\n/);
    const wrong = (line: number, so: string) =>
      new UserError('bad-flag', `Cannot read the users: ${path}, line ${line}: ${so}`);
    if (header !== HEADER) throw wrong(1, `expected ${HEADER}`);
    return lines.map((line, at) => {
      const [name = '', written = '', digest = '', ...more] = line.split(',').map((cell) => cell.trim());
      const role = ROLES.find((each) => each === written);
      if (name === '' || role === undefined || more.length > 0)
        throw wrong(at + 2, `expected a name, a role (${ROLES.join(', ')}) and a digest`);
      return { name, role, digest };
    });
  }

  return { find, list, check, add, assertTwoApprove };
}

/** Whether a role may what another one may. */
export function may(user: User | undefined, role: Role): boolean {
  return user === undefined || ROLES.indexOf(user.role) >= ROLES.indexOf(role);
}
