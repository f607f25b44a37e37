import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type { Context } from '../command/context.js';
import { UserError } from '../domain/errors.js';
import { PAGE_FILE } from '../report/write-report.js';
import {
  Access,
  isSame,
  NO_VISIT,
  nameCookie,
  refuseForeign,
  SAFE_HEADERS,
  type Visit,
  writeCookie,
} from './access.js';
import { CONSOLE_SCRIPT, CONSOLE_STYLE } from './assets.js';
import { AudienceDesk } from './audience-desk.js';
import { CampaignDesk } from './campaign-desk.js';
import { Commands } from './commands.js';
import type { FormFields, PageAnswer, PageRequest } from './desk.js';
import { FixDesk } from './fix-desk.js';
import { refusedPage, signInPage } from './pages/layout.js';
import { RepairDesk } from './repair-desk.js';
import { SendingDesk } from './sending-desk.js';
import { may, type Role, type Team } from './team.js';
import { TestDesk } from './test-desk.js';
import { TimingDesk } from './timing-desk.js';
import { SLICE_BYTES } from './uploads.js';

/** Of a form without a script, which has the whole file in one piece. */
const MOST_FORM_BYTES = 64_000_000;

export interface ConsoleOptions {
  /** Has `campaigns/` and what the console keeps. */
  readonly directory: string;
  readonly port: number;
  /** The program, which does the work. */
  readonly cli: string;
  readonly host: string;
  /** As browsers see it, where a proxy is in front; else that of the port. */
  readonly origin: string | undefined;
  /** Undefined where one person uses it, by a link. */
  readonly team: Team | undefined;
  /** Of a proxy that knows who asks. */
  readonly userHeader: string | undefined;
}

export interface RunningConsole {
  readonly origin: string;
  readonly close: () => Promise<void>;
}

/** Serves the pages. Every request is checked before it is routed; one without a session gets no page. */
export async function startConsole(
  { directory, port, cli, host, team, ...given }: ConsoleOptions,
  context: Context,
): Promise<RunningConsole> {
  const { env } = context;
  const access = new Access(join(directory, '.console'), { ...env, team });
  const commands = new Commands(cli, env);
  const desks = { directory, commands };
  const desk = new CampaignDesk(desks, context);
  const audience = new AudienceDesk(desks, context);
  const test = new TestDesk(desks, context);
  const timing = new TimingDesk(desks, context);
  const sending = new SendingDesk(desks, context);
  const repair = new RepairDesk(desks, context);
  const fixing = new FixDesk(desks, context);
  const app = fastify({
    bodyLimit: MOST_FORM_BYTES,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 300 },
  });
  const sessions = new WeakMap<object, Visit>();
  const userHeader = given.userHeader?.toLowerCase();
  let origin = given.origin ?? '';

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SAFE_HEADERS);
    // A probe of a cluster asks by an address, and gets nothing else.
    if (request.url === '/healthz') return reply.send('ok\n');
    const refused = refuseForeign({ method: request.method, headers: request.headers }, origin);
    if (refused !== undefined) return refuse(reply, refused[0], 'Refused', refused[1]);
    const path = request.url.replace(/\?.*/s, '');
    if (path.startsWith('/assets/') || path === '/enter') return undefined;
    const session =
      userHeader === undefined
        ? await access.find(request.headers.cookie, nameCookie(origin))
        : await access.trust(String(request.headers[userHeader] ?? ''));
    if (session !== undefined) sessions.set(request, session);
    else if (userHeader !== undefined)
      return refuse(reply, 403, 'You are not among the users', 'Who keeps the users of this console can add you.');
    else if (team !== undefined) return reply.redirect('/enter', 303);
    else
      return refuse(
        reply,
        401,
        'Open this console by its link',
        'This browser is not known here, or was for twelve hours. The command `volley console --link` prints a link for it.',
      );
    return undefined;
  });
  app.setErrorHandler(async (error, { raw }, reply) => {
    // A browser that went away in the middle of an upload waits for no answer.
    if (raw.destroyed && !raw.complete) return reply.hijack();
    if (error instanceof UserError)
      return refuse(
        reply,
        409,
        'There is a problem',
        `${error.message}${error.problems.map(({ message }) => `; ${message}`).join('')}`,
      );
    context.log.error(`the console could not answer: ${error instanceof Error ? error.message : String(error)}`);
    return refuse(
      reply,
      500,
      'This did not work',
      'What went wrong is in the log of the console. Nothing was sent by this page.',
    );
  });
  app.setNotFoundHandler(async (_request, reply) => refuse(reply, 404, 'Not found', 'There is no such page here.'));

  app.get('/assets/console.css', (_, reply) => reply.type('text/css; charset=utf-8').send(CONSOLE_STYLE));
  app.get('/assets/console.js', (_, reply) => reply.type('text/javascript; charset=utf-8').send(CONSOLE_SCRIPT));
  const letIn = (reply: FastifyReply, value: string) =>
    reply.header('set-cookie', writeCookie(origin, value)).redirect('/', 303);
  app.get('/enter', async (request, reply) => {
    if (team !== undefined) return sendPage(reply, { page: signInPage() });
    const value = await access.enter(String((request.query as FormFields).link ?? ''));
    if (value !== undefined) return letIn(reply, value);
    return refuse(
      reply,
      403,
      'This link was used',
      'A link opens the console once, within ten minutes. The command `volley console --link` prints another.',
    );
  });
  app.post('/enter', async (request, reply) => {
    const { name, password } = await readForm(request);
    const value = await access.signIn(String(name ?? ''), String(password ?? ''));
    return value === undefined
      ? sendPage(reply, { status: 422, page: signInPage(String(name ?? '')) })
      : letIn(reply, value);
  });

  const sessionOf = (request: FastifyRequest) => sessions.get(request) ?? NO_VISIT;
  const onPage = (path: string, show: (asked: PageRequest) => Promise<PageAnswer>) =>
    app.get(path, async (request, reply) =>
      sendPage(reply, await show(readAsked(request, request.query as FormFields, sessionOf(request)))),
    );
  const onForm = (path: string, act: (asked: PageRequest) => Promise<PageAnswer>, role: Role = 'author') =>
    app.post(path, async (request, reply) => {
      const fields = await readForm(request);
      const session = sessionOf(request);
      if (!isSame(fields.token, session.formToken))
        return refuse(
          reply,
          403,
          'This form is of another visit',
          'Nothing was done. Go back, load the page again, and do it once more.',
        );
      const refused = refuseRole(session, role);
      return sendPage(reply, refused ?? (await act(readAsked(request, fields, session))));
    });

  onPage('/', (asked) => desk.showHome(asked));
  onForm('/new', (asked) => desk.create(asked));
  onPage('/c/:name', (asked) => desk.showTasks(asked));
  onPage('/c/:name/file', (asked) => desk.showFile(asked));
  onForm('/c/:name/file', (asked) => desk.chooseFile(asked));
  onForm('/c/:name/upload', (asked) => desk.takeFile(asked));
  onPage('/c/:name/columns', (asked) => desk.showColumns(asked));
  onForm('/c/:name/columns', (asked) => desk.chooseColumn(asked));
  onPage('/c/:name/message', (asked) => desk.showMessage(asked));
  onForm('/c/:name/message', (asked) => desk.writeMessage(asked));
  onPage('/c/:name/who', (asked) => audience.showWho(asked));
  onForm('/c/:name/who', (asked) => audience.write(asked));
  onForm('/c/:name/who.json', (asked) => audience.count(asked));
  onPage('/c/:name/when', (asked) => timing.showWhen(asked));
  onForm('/c/:name/when', (asked) => timing.write(asked));
  onPage('/c/:name/test', (asked) => test.showTest(asked));
  onPage('/c/:name/test.json', (asked) => test.lookAt(asked, 'test', 'The test is being sent.'));
  onForm('/c/:name/test', (asked) => test.send(asked));
  onForm('/c/:name/live', (asked) => desk.makeLive(asked));
  onPage('/c/:name/check', (asked) => sending.showCheck(asked));
  onPage('/c/:name/check.json', (asked) =>
    sending.lookAt(asked, 'plan', 'Every row is read and checked. Nothing is sent.'),
  );
  onForm('/c/:name/check', (asked) => sending.check(asked));
  onForm('/c/:name/send', (asked) => sending.send(asked));
  onPage('/c/:name/run', (asked) => sending.showRun(asked));
  onPage('/c/:name/run.json', (asked) => sending.lookAtRun(asked));
  onForm('/c/:name/stop', (asked) => sending.stop(asked));
  onForm('/c/:name/go-on', (asked) => sending.goOn(asked));
  onPage('/c/:name/fix', (asked) => fixing.show(asked));
  onForm('/c/:name/fix', (asked) => fixing.save(asked));
  onForm('/c/:name/fix/put', (asked) => fixing.putBack(asked));
  onForm('/c/:name/fix/check', (asked) => fixing.check(asked));
  onForm('/c/:name/fix/upload', (asked) => fixing.upload(asked));
  onPage('/c/:name/fix.csv', (asked) => fixing.download(asked));
  onPage('/c/:name/doubt', (asked) => repair.showDoubt(asked));
  onPage('/c/:name/doubt.json', (asked) => repair.lookAt(asked, 'settle', 'They are settled. Nothing is sent.'));
  onForm('/c/:name/doubt', (asked) => repair.decide(asked));
  onForm('/c/:name/doubt/export', (asked) => repair.takeExport(asked));
  onPage('/c/:name/had', (asked) => repair.showHad(asked));
  onForm('/c/:name/retry', (asked) => repair.retry(asked));
  onPage('/c/:name/take-back', (asked) => repair.showTakeBack(asked));
  onPage('/c/:name/take-back.json', (asked) =>
    repair.lookAt(asked, 'cancel', 'The service is asked. Nothing is sent.'),
  );
  onForm('/c/:name/take-back', (asked) => repair.takeBack(asked));
  onPage('/c/:name/out/:output', (asked) => sending.openOutput(asked));
  onPage('/c/:name/slices', async (asked) => ({ json: { ...(await desk.findUpload(asked)), slice: SLICE_BYTES } }));
  app.put('/c/:name/slices', { bodyLimit: SLICE_BYTES }, async (request, reply) => {
    const session = sessionOf(request);
    if (!isSame(request.headers['x-volley-token'], session.formToken))
      return sendPage(reply, { status: 403, json: { said: 'This page is of another visit. Load it again.' } });
    const refused = refuseRole(session, 'author');
    const asked = readAsked(request, request.query as FormFields, session);
    return sendPage(reply, refused ?? (await desk.takeSlice(asked, request.body as Buffer)));
  });
  app.post('/leave', async (request, reply) => {
    const { token } = await readForm(request);
    if (isSame(token, sessionOf(request).formToken)) await access.signOut(request.headers.cookie, nameCookie(origin));
    return reply.header('set-cookie', writeCookie(origin, '', 0)).redirect('/enter', 303);
  });

  await app.listen({ host, port });
  const address = app.server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  origin = given.origin ?? `http://127.0.0.1:${bound}`;
  const close = async () => {
    await app.close();
    if (process.pid === 1) await commands.stopAll();
  };
  return { origin, close };
}

/** Undefined where the person may do it. */
function refuseRole({ user }: Visit, role: Role): PageAnswer | undefined {
  if (may(user, role)) return undefined;
  const said = `You are ${user?.role} here; this takes ${role === 'author' ? 'an author' : 'an approver'}. Nothing was done.`;
  return { status: 403, page: refusedPage('This is for others', said) };
}

function readAsked(request: FastifyRequest, { file, ...fields }: FormFields, visit: Visit): PageRequest {
  const { name = '', output = '' } = request.params as Readonly<Record<string, string>>;
  return { ...visit, name, output, fields, ...(isUpload(file) ? { file } : {}) };
}

function isUpload(value: unknown): value is NonNullable<PageRequest['file']> {
  return typeof value === 'object' && value !== null && 'bytes' in value;
}

/** A browser sends one of two forms, by its own account of them. */
async function readForm({ headers, body }: FastifyRequest): Promise<FormFields> {
  const type = headers['content-type'] ?? '';
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  if (!type.startsWith('multipart/form-data')) return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')));
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  const entries = [...form.entries()].map(async ([name, value]) =>
    typeof value === 'string'
      ? ([name, value] as const)
      : ([name, { name: value.name, bytes: new Uint8Array(await value.arrayBuffer()) }] as const),
  );
  return Object.fromEntries(await Promise.all(entries));
}

function refuse(reply: FastifyReply, status: number, title: string, said: string) {
  return sendPage(reply, { status, page: refusedPage(title, said) });
}

async function sendPage(reply: FastifyReply, { status = 200, page, json, to, file }: PageAnswer) {
  if (to !== undefined) return reply.redirect(to, 303);
  if (json !== undefined) return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(json));
  if (file === undefined)
    return reply
      .code(status)
      .type('text/html; charset=utf-8')
      .send(page ?? '');
  const { path, name } = file;
  if (name === PAGE_FILE) {
    // It has its style in itself, and no script.
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
  } else reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${name}"`);
  return reply.send(createReadStream(path));
}
