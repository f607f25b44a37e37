import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type { Context } from '../command/context.js';
import { describeDisk, findDiskError } from '../command/disk-error.js';
import { showCommand } from '../command/screen.js';
import { messageOf, UserError } from '../domain/errors.js';
import { isObject } from '../domain/is-object.js';
import { refuseAddress } from '../domain/loopback.js';
import {
  createAccess,
  isSame,
  may,
  NO_VISIT,
  nameCookie,
  type Role,
  refuseForeign,
  SAFE_HEADERS,
  type Team,
  type Visit,
  writeCookie,
} from './access.js';
import { CONSOLE_SCRIPT, CONSOLE_STYLE } from './assets.js';
import { Campaigns } from './campaign.js';
import { type Commands, createCommands } from './commands.js';
import { AudienceDesk } from './pages/audience-desk.js';
import { CampaignDesk } from './pages/campaign-desk.js';
import { CheckDesk } from './pages/check-desk.js';
import { ColumnsDesk } from './pages/columns-desk.js';
import {
  type CampaignRequest,
  type FormFields,
  givenJob,
  type JobRequest,
  oncePressed,
  type PageRequest,
  problemPage,
  type Respond,
  unlessHandWritten,
} from './pages/desk.js';
import { FixDesk } from './pages/fix-desk.js';
import { HomeDesk } from './pages/home-desk.js';
import { type PageAnswer, refusedPage, signInPage } from './pages/layout.js';
import { MessageDesk } from './pages/message-desk.js';
import { RepairDesk } from './pages/repair-desk.js';
import { RunDesk } from './pages/run-desk.js';
import { TimingDesk } from './pages/timing-desk.js';
import { sayPlainly } from './pages/wrong.js';
import { readFileName, SLICE_BYTES } from './uploads.js';

/** The largest form: without a script, it has the whole file in one piece. */
const MOST_FORM_BYTES = 64_000_000;
/** The largest body of anything else, such as a name and a password: it is read before it is known who sends it. */
const MOST_OTHER_BYTES = 16_000;

interface ConsoleOptions {
  /** Has `campaigns/` and what the console keeps. */
  readonly directory: string;
  readonly port: number;
  readonly runHere: Commands['runHere'];
  readonly host: string;
  readonly origin: string | undefined;
  /** Who may sign in; undefined where one person uses the console, by a link. */
  readonly team: Team | undefined;
  readonly userHeader: string | undefined;
}

/** Serves the pages. Every request is checked before it is routed; one without a session gets no page. */
export async function startConsole(
  { directory, port, host, team, runHere, ...given }: ConsoleOptions,
  context: Context,
): Promise<{ readonly origin: string; readonly close: () => Promise<void> }> {
  const access = createAccess(join(directory, '.console'), { ...context.env, team });
  const commands = createCommands(runHere, context.env);
  const campaigns = new Campaigns(directory, context.env.files);
  const home = new HomeDesk(campaigns, commands, context);
  const desk = new CampaignDesk(campaigns, commands, context);
  const columns = new ColumnsDesk(campaigns, commands, context);
  const message = new MessageDesk(campaigns, commands, context);
  const audience = new AudienceDesk(campaigns, commands, context);
  const timing = new TimingDesk(campaigns, commands, context);
  const checking = new CheckDesk(campaigns, commands, context);
  const running = new RunDesk(campaigns, commands, context);
  const repair = new RepairDesk(campaigns, commands, context);
  const fixing = new FixDesk(campaigns, commands, context);
  const routerOptions = { maxParamLength: 300 };
  const app = fastify({
    bodyLimit: MOST_OTHER_BYTES,
    forceCloseConnections: true,
    routerOptions,
    // An address that cannot be read comes to no hook.
    frameworkErrors: (_error, _request, reply) => sendPage(reply.headers(SAFE_HEADERS), NOT_FOUND),
  });
  const sessions = new WeakMap<object, Visit>();
  const command = showCommand(context.screen, 'console', '--link', '--directory', directory);
  const askForLink = (status: number, title: string, why: string) =>
    refusedPage(status, title, `${why} Where it was started, \`${command}\` prints another.`);
  const userHeader = given.userHeader?.toLowerCase();
  let origin = given.origin ?? '';

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SAFE_HEADERS);
    // A probe of a cluster asks by an address, and gets nothing else.
    if (request.url === '/healthz') return reply.send('ok\n');
    const refused = refuseForeign(request, origin);
    if (refused !== undefined) return sendPage(reply, refusedPage(refused[0], 'Refused', refused[1]));
    const path = request.url.replace(/\?.*/s, '');
    if (path.startsWith('/assets/') || path === '/enter') return undefined;
    const session =
      userHeader === undefined
        ? await access.find(request.headers.cookie, nameCookie(origin))
        : await access.trust(String(request.headers[userHeader] ?? ''));
    if (session !== undefined) sessions.set(request, session);
    else if (userHeader !== undefined) return sendPage(reply, STRANGER);
    else if (team !== undefined) return reply.redirect('/enter', 303);
    else
      return sendPage(
        reply,
        askForLink(401, 'Open this console by its link', 'This browser is not known here, or was for twelve hours.'),
      );
    return undefined;
  });
  app.setErrorHandler(async (error, { raw }, reply) => {
    // A browser that went away in the middle of an upload waits for no answer.
    if (raw.destroyed && !raw.complete) return reply.hijack();
    if (error instanceof UserError) {
      return sendPage(reply, refusedPage(409, 'There is a problem', sayPlainly(error.message)));
    }
    const { statusCode = 500 } = error as { readonly statusCode?: number };
    if (statusCode < 500) return sendPage(reply, refusedPage(statusCode, 'This cannot be taken', NOT_TAKEN));
    context.log.error(`the console could not answer: ${messageOf(error)}`);
    const disk = findDiskError(error);
    const why = disk === undefined ? 'What went wrong is in the log of the console' : describeDisk(disk).message;
    return sendPage(reply, refusedPage(500, 'This did not work', `${why}. Nothing was sent by this page.`));
  });
  app.setNotFoundHandler(async (_request, reply) => sendPage(reply, NOT_FOUND));

  app.get('/assets/console.css', (_, reply) => reply.type('text/css; charset=utf-8').send(CONSOLE_STYLE));
  app.get('/assets/console.js', (_, reply) => reply.type('text/javascript; charset=utf-8').send(CONSOLE_SCRIPT));
  const letIn = (reply: FastifyReply, value: string) =>
    reply.header('set-cookie', writeCookie(origin, value)).redirect('/', 303);
  app.get('/enter', async (request, reply) => {
    if (userHeader !== undefined) return reply.redirect('/', 303);
    if (team !== undefined) return sendPage(reply, signInPage());
    const value = await access.enter(String((request.query as FormFields).link ?? ''));
    return value === undefined
      ? sendPage(
          reply,
          askForLink(403, 'This link is old, or was used', 'A link opens the console once, within ten minutes.'),
        )
      : letIn(reply, value);
  });
  app.post('/enter', async (request, reply) => {
    const { name = '', password = '' } = await readForm(request);
    const value = await access.signIn(String(name), String(password));
    return value === undefined ? sendPage(reply, signInPage(String(name))) : letIn(reply, value);
  });

  const sessionOf = (request: FastifyRequest) => sessions.get(request) ?? NO_VISIT;
  const onPage = (path: string, show: Respond<PageRequest>) =>
    app.get(path, async (request, reply) =>
      sendPage(reply, await show(readAsked(request, request.query as FormFields, sessionOf(request)))),
    );
  const onForm = (path: string, act: Respond<PageRequest>, role: Role = 'author') =>
    app.post(path, { bodyLimit: MOST_FORM_BYTES }, async (request, reply) => {
      const fields = await readForm(request);
      const session = sessionOf(request);
      const refused = refuseVisit(session, fields.token, role);
      return sendPage(reply, refused ?? (await act(readAsked(request, fields, session))));
    });
  const within = (act: Respond<CampaignRequest>): Respond<PageRequest> => {
    return async (asked) => {
      const campaign = await campaigns.find(asked.name);
      return act({ ...asked, campaign }).catch((error) => problemPage({ ...asked, campaign }, error));
    };
  };
  const inTurn = (act: Respond<PageRequest>): Respond<PageRequest> => {
    return (asked) => campaigns.inTurn(asked.name, () => act(asked));
  };
  const routes = <Request>(prepare: (act: Respond<Request>) => Respond<CampaignRequest>) => ({
    page: (path: string, show: Respond<Request>) => onPage(`/c/:name${path}`, within(prepare(show))),
    form: (path: string, act: Respond<Request>) => onForm(`/c/:name${path}`, inTurn(within(prepare(act)))),
  });
  const campaign = routes<CampaignRequest>((act) => act);
  const job = routes(givenJob);
  const draft = routes<CampaignRequest>(unlessHandWritten);
  const edited = routes<JobRequest>((act) => unlessHandWritten(givenJob(act)));
  const saved = routes<JobRequest>((act) => unlessHandWritten(givenJob(oncePressed(act, campaigns))));

  onPage('/', (asked) => home.showHome(asked));
  // In turn: where two people begin a campaign of one name, the second finds it taken.
  onForm(
    '/new',
    inTurn((asked) => home.create(asked)),
  );
  onPage('/people', (asked) => home.showPerson(asked));
  // A look: by a form, so that no address has the number.
  onForm('/people', (asked) => home.showPerson(asked), 'viewer');
  onForm('/people/opt', (asked) => home.optPerson(asked));
  onPage('/settings', (asked) => home.showSettings(asked, team));
  campaign.page('', (asked) => desk.showTasks(asked));
  campaign.page('/file', (asked) => columns.showFile(asked));
  draft.form('/file', (asked) => columns.chooseFile(asked));
  campaign.page('/slices', (asked) => columns.findUpload(asked));
  campaign.page('/columns', (asked) => columns.showColumns(asked));
  draft.form('/columns', (asked) => columns.chooseColumn(asked));
  edited.page('/message', (asked) => message.showMessage(asked));
  saved.form('/message', (asked) => message.writeMessage(asked));
  edited.page('/who', (asked) => audience.showWho(asked));
  saved.form('/who', (asked) => audience.write(asked));
  edited.page('/when', (asked) => timing.showWhen(asked));
  saved.form('/when', (asked) => timing.write(asked));
  job.form('/live', (asked) => desk.makeLive(asked));
  campaign.form('/delete', (asked) => desk.remove(asked));
  job.page('/test', (asked) => checking.showTest(asked));
  job.form('/test', (asked) => checking.test(asked));
  job.page('/check', (asked) => checking.showCheck(asked));
  job.form('/check', (asked) => checking.check(asked));
  job.form('/send', (asked) => checking.send(asked));
  job.page('/run', (asked) => running.showRun(asked));
  campaign.form('/stop', (asked) => running.stop(asked));
  job.form('/go-on', (asked) => running.goOn(asked));
  campaign.page('/out/:output', (asked) => running.openOutput(asked));
  // A look writes down what is left, for the forms.
  onPage('/c/:name/fix', inTurn(within((asked) => fixing.show(asked))));
  draft.form('/fix', (asked) => fixing.save(asked));
  draft.form('/fix/put', (asked) => fixing.putBack(asked));
  draft.form('/fix/check', (asked) => fixing.check(asked));
  draft.form('/fix/upload', (asked) => fixing.upload(asked));
  onPage('/c/:name/fix.csv', inTurn(within((asked) => fixing.download(asked))));
  campaign.page('/doubt', (asked) => repair.showDoubt(asked));
  campaign.form('/doubt', (asked) => repair.decide(asked));
  campaign.form('/doubt/export', (asked) => repair.takeExport(asked));
  campaign.form('/retry', (asked) => repair.retry(asked));
  campaign.page('/take-back', (asked) => repair.showTakeBack(asked));
  campaign.form('/take-back', (asked) => repair.takeBack(asked));
  app.put('/c/:name/slices', { bodyLimit: SLICE_BYTES }, async (request, reply) => {
    const session = sessionOf(request);
    const asked = readAsked(request, request.query as FormFields, session);
    const take = inTurn(within((of) => columns.takeSlice(of, bytesOf(request))));
    const refused = refuseVisit(session, request.headers['x-volley-token'], 'author');
    return sendPage(reply, refused ?? (await take(asked)));
  });
  app.post('/leave', async (request, reply) => {
    const { token } = await readForm(request);
    if (isSame(token, sessionOf(request).formToken)) await access.signOut(request.headers.cookie, nameCookie(origin));
    return reply.header('set-cookie', writeCookie(origin, '', 0)).redirect('/enter', 303);
  });

  await app.listen({ host, port }).catch((error) => {
    throw refuseAddress(error, 'start the console', IS_RUNNING);
  });
  const address = app.server.address();
  origin = given.origin ?? `http://127.0.0.1:${isObject(address) ? address.port : port}`;
  const close = async () => {
    await app.close();
    if (process.pid === 1) await commands.stopAll();
  };
  return { origin, close };
}

const IS_RUNNING =
  'Is one running? volley console --link opens it. Else give another --port, or a --host of this machine.';

const NOT_FOUND = refusedPage(404, 'Not found', 'There is no such page here.');
const NOT_TAKEN = `It is too large, or cannot be read. A file of more than ${MOST_FORM_BYTES / 1_000_000} MB is chosen by its path, or uploaded by a browser with scripts. Nothing was done.`;
const STRANGER = refusedPage(403, 'You are not among the users', 'Who keeps the users of this console can add you.');
const OTHER_VISIT = refusedPage(
  403,
  'This form is of another visit',
  'Nothing was done. Go back, load the page again, and do it once more.',
);

/** `token`: that the form of a page carries. */
function refuseVisit({ user, formToken }: Visit, token: unknown, role: Role): PageAnswer | undefined {
  if (!isSame(token, formToken)) return OTHER_VISIT;
  if (may(user, role)) return undefined;
  const said = `You are ${user?.role} here; this takes ${role === 'author' ? 'an author' : 'an approver'}. Nothing was done.`;
  return refusedPage(403, 'This is for others', said);
}

function readAsked(request: FastifyRequest, { file, ...given }: FormFields, visit: Visit): PageRequest {
  const { name = '', output = '' } = request.params as Readonly<Record<string, string>>;
  // No path and no argument of a command can have one.
  const withoutNul = (value: unknown) => (typeof value === 'string' ? value.replaceAll('\0', '') : value);
  const fields = Object.fromEntries(Object.entries(given).map(([field, value]) => [field, withoutNul(value)]));
  return { ...visit, name, output, fields, ...(isUpload(file) ? { file } : {}) };
}

function isUpload(value: unknown): value is NonNullable<PageRequest['file']> {
  return typeof value === 'object' && value !== null && 'bytes' in value && (value.bytes as Uint8Array).length > 0;
}

/** A browser sends one of two forms, by its own account of them. */
async function readForm(request: FastifyRequest): Promise<FormFields> {
  const type = request.headers['content-type'] ?? '';
  const bytes = bytesOf(request);
  if (!type.startsWith('multipart/form-data')) return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')));
  const sent = new Response(new Uint8Array(bytes), { headers: { 'content-type': type } });
  // Nothing is taken of a form that was cut off: it has no token either.
  const form = await sent.formData().catch(() => new FormData());
  const entries = [...form.entries()].map(async ([name, value]) =>
    typeof value === 'string'
      ? ([name, value] as const)
      : ([name, { name: readFileName(value.name), bytes: new Uint8Array(await value.arrayBuffer()) }] as const),
  );
  return Object.fromEntries(await Promise.all(entries));
}

function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

async function sendPage(reply: FastifyReply, { status = 200, page, json, to, file }: PageAnswer) {
  if (to !== undefined) return reply.redirect(to, 303);
  if (json !== undefined && (page === undefined || reply.request.headers.accept === 'application/json'))
    return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(json));
  if (file === undefined) return reply.code(status).type('text/html; charset=utf-8').send(page);
  const { path, name } = file;
  if (name.endsWith('.html')) {
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
  } else reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${name}"`);
  return reply.send(createReadStream(path));
}
