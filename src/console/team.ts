import { randomBytes } from 'node:crypto';
import { UserError } from '../domain/errors.js';
import { foldPerson } from '../job/schema/approvers.js';
import { sha256Of } from '../plan/format/sealed-json.js';
import type { Files } from '../storage/files.js';

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

/**
 * Who may use a console that several people share: a CSV file, read at every visit, so that a line that is changed or taken out counts at
 * once. Volley makes the passwords, of 128 random bits: no list of words finds one by its digest.
 */
export class Team {
  readonly #path: string;
  readonly #files: Files;

  constructor(path: string, files: Files) {
    this.#path = path;
    this.#files = files;
  }

  async find(name: string): Promise<Member | undefined> {
    return (await this.#read()).find((each) => foldPerson(each.name) === foldPerson(name));
  }

  async list(): Promise<User[]> {
    return (await this.#read()).map(({ name, role }) => ({ name, role }));
  }

  async check(name: string, password: string): Promise<Member | undefined> {
    const found = await this.find(name);
    return found?.digest === sha256Of(password) ? found : undefined;
  }

  /** The new password of a person who is added, or who has another role or password from now on. */
  async add({ name, role }: User): Promise<string> {
    if (!/^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,59}$/u.test(name))
      throw new UserError(
        'bad-flag',
        `Cannot add ${JSON.stringify(name)}: expected a name of letters, digits, blanks and . _ @ -`,
      );
    const password = randomBytes(PASSWORD_BYTES).toString('hex');
    const others = (await this.#read()).filter((each) => foldPerson(each.name) !== foldPerson(name));
    const lines = [...others, { name, role, digest: sha256Of(password) }].map((each) =>
      [each.name, each.role, each.digest].join(','),
    );
    await this.#files.writeWhole(this.#path, `${[HEADER, ...lines].join('\n')}\n`);
    return password;
  }

  /** Refuses a team in which a plan waits for a second person who is not there. */
  async assertTwoApprove(): Promise<void> {
    const approvers = (await this.#read()).filter(({ role }) => role === 'approver');
    if (approvers.length >= 2) return;
    throw new UserError(
      'bad-flag',
      `Cannot start the console: ${this.#path} has ${approvers.length === 1 ? '1 person who approves' : 'no person who approves'}, expected 2`,
      {
        hint: 'Approvers do not approve their own plans. Add one: volley console --users FILE --add NAME --role approver',
      },
    );
  }

  async #read(): Promise<Member[]> {
    const [header, ...lines] = ((await this.#files.readText(this.#path)) ?? HEADER).trim().split(/\r?\n/);
    const wrong = (line: number, so: string) =>
      new UserError('bad-flag', `Cannot read the users: ${this.#path}, line ${line}: ${so}`);
    if (header !== HEADER) throw wrong(1, `expected ${HEADER}`);
    return lines.map((line, at) => {
      const [name = '', written = '', digest = '', ...more] = line.split(',').map((cell) => cell.trim());
      const role = ROLES.find((each) => each === written);
      if (name === '' || role === undefined || more.length > 0)
        throw wrong(at + 2, `expected a name, a role (${ROLES.join(', ')}) and a digest`);
      return { name, role, digest };
    });
  }
}

/** Whether a role may what another one may. */
export function may(user: User | undefined, role: Role): boolean {
  return user === undefined || ROLES.indexOf(user.role) >= ROLES.indexOf(role);
}
