import { escapeText } from '../../command/screen.js';
import { type Html, html, NOTHING } from '../../report/page/html.js';
import type { Visit } from '../access.js';
import { markWrong, NO_VIEW, renderFault, renderWrong, type View } from './wrong.js';

/** What a request is answered with. `to`: another page, after every form that did something. */
export interface PageAnswer {
  readonly status?: number;
  readonly page?: string;
  /** What a script gets in the place of the page. */
  readonly json?: object;
  readonly to?: string;
  readonly file?: { readonly path: string; readonly name: string };
}

/** `live`: what stands on top of a page of what is under way, and the work that leads to it: it is asked for again until it is another page. */
export function renderPage(
  view: View,
  parts: { title: string; body: Html; command?: string; live?: { work: Work; said: string; query?: string } },
): PageAnswer {
  const { title, body, command, live } = parts;
  const { campaign, wrong } = view;
  const banner =
    campaign === undefined
      ? NOTHING
      : campaign.account === '' && !campaign.isSandbox
        ? html`<p class="banner">Its job names no account, or cannot be read: nothing is sent</p>`
        : campaign.isSandbox
          ? html`<p class="banner sandbox"><b>Sandbox</b>: no message leaves this machine</p>`
          : html`<p class="banner live"><b>Live: ${campaign.account}</b>. Messages leave this machine</p>`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${live !== undefined && html`<noscript><meta http-equiv="refresh" content="3"></noscript>`}
<title>${wrong.length > 0 ? 'Error: ' : ''}${title} – Volley</title>
<link rel="stylesheet" href="/assets/console.css">
<script src="/assets/console.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><nav aria-label="Volley"><a class="brand" href="/">Volley</a>${campaign !== undefined && html` <a href="${view.at}">${campaign.name}</a>`}${renderVisitor(view)}</nav>${banner}</header>
${renderSteps(view, title)}<main id="main" tabindex="-1">
${renderWrong(wrong)}${live !== undefined && html`<h1>${title}</h1><p class="lead" role="status" data-title="${title}" data-live="${view.at}/${WORK[live.work].page}${live.query ?? ''}">${live.said}</p>`}${body}
${command !== undefined && html`<footer>In the terminal: <code>${command}</code></footer>`}
</main>
</body>
</html>
`;
  const { status = wrong.length > 0 ? 422 : 200 } = wrong.find((each) => each.status !== undefined) ?? {};
  return { status, page: showHidden(page.text), json: { title, said: live?.said } };
}

/** The steps of a campaign, in their order: each is the title and the address of a page. */
const STEPS = ['File', 'Columns', 'Message', 'Who', 'When', 'Check'];

/** Shows where a page stands among the steps; nothing on a page that is none. */
function renderSteps({ at, campaign }: View, title: string): Html {
  const step = STEPS.indexOf(title);
  if (campaign === undefined || title === campaign.name) return NOTHING;
  if (step === -1) return html`<nav class="steps"><a href="${at}">Back</a></nav>`;
  const before = STEPS.slice(0, step).map((each) => `/${each.toLowerCase()}`);
  return html`<nav class="steps" aria-label="Steps"><a href="${at}${before.at(-1) ?? ''}">Back</a> Step ${step + 1} of ${STEPS.length}: ${title}</nav>
`;
}

/** Commands that a page waits for, by their verbs: which page that is, and what it says meanwhile. `did`: for the history. */
export const WORK = {
  plan: {
    page: 'check',
    did: 'checked it',
    title: 'Check',
    said: 'Volley reads every row of the file and checks it. Nothing is sent.',
    next: 'This takes a few seconds, with a million rows a minute at most. Then this page shows who would get the message and at which cost, and you type their number to send it.',
    command: 'volley plan job.yaml',
  },
  test: {
    page: 'test',
    did: 'sent a test',
    title: 'Test on your own phones',
    said: 'The test is being sent.',
    next: 'This takes a few seconds. Then this page says what became of it.',
    command: 'volley test job.yaml --to +6591234567 --longest',
  },
  apply: {
    page: 'run',
    did: 'started sending',
    title: 'Sending begins',
    said: 'Sending begins.',
    next: 'In a few seconds this page shows how far it is and how long it takes, and at its end the report.',
    command: 'volley status job.yaml',
  },
  settle: {
    page: 'doubt',
    did: 'settled messages in doubt',
    title: 'In doubt',
    said: 'They are settled. Nothing is sent.',
    next: 'This takes a few seconds, with a large export a minute. Then this page shows what is left to decide.',
    command: 'volley settle job.yaml',
  },
  cancel: {
    page: 'take-back',
    did: 'took messages back',
    title: 'Taking back',
    said: 'The service is asked for each batch. Nothing is sent.',
    next: 'This takes about as long as sending them did. Then this page shows how many were taken back.',
    command: 'volley cancel job.yaml',
  },
  preview: {
    page: 'message',
    did: 'looked at messages',
    title: 'Message',
    said: 'Volley reads every row of the file to find these messages. Nothing is sent.',
    next: 'This takes a few seconds, with a million rows half a minute at most. Then this page shows them.',
    command: 'volley preview job.yaml --longest',
  },
  fix: {
    page: 'fix',
    did: 'looked at rows to fix',
    title: 'Fix',
    said: 'Volley collects the rows that could not be used. Nothing is sent.',
    next: 'This takes a few seconds with a million rows. Then this page shows them.',
    command: 'volley report job.yaml',
  },
} as const;

export type Work = keyof typeof WORK;

/** The page that is shown until a command has ended, or a run begun. */
export function waitPage(view: View, work: Work, query = ''): PageAnswer {
  const { title, said, next, command } = WORK[work];
  return renderPage(view, {
    title,
    live: { work, said, query },
    body: html`<p>${next}</p>${renderLeaving(view)}`,
    command,
  });
}

export function renderLeaving({ at, campaign }: View): Html {
  return html`<p>This page follows by itself. You may close it: Volley goes on without it, and <a href="${at}">${campaign?.name ?? ''}</a> on the first page leads back here.</p>`;
}

/** Characters that cannot be seen, or turn what follows, are shown as what they are, as in a terminal; what a form sends stays as it is. */
function showHidden(page: string): string {
  return page.replace(/<textarea[^<>]*>[^<]*|>[^<]+/g, (text) =>
    text.startsWith('<') ? text : text.split('\n').map(escapeText).join('\n'),
  );
}

/** Links to the page before and the page behind. `shown` of `total` are on this one, `most` on any. */
export function renderPages(
  { from, shown, total, most }: { from: number; shown: number; total: number; most: number },
  query: Readonly<Record<string, string>>,
  anchor = '',
): Html {
  const link = (at: number, said: string) =>
    html`<a href="?${new URLSearchParams({ ...query, from: String(at) }).toString()}${anchor}">${said}</a> `;
  const before = from > 0 && link(Math.max(0, from - most), 'Previous');
  return html`<p class="pages">${before}${from + shown < total && link(from + most, 'Next')}</p>`;
}

export function renderItems(items: readonly Html[], isOrdered = false): Html {
  const listed = items.map((item) => html`<li>${item}</li>`);
  return isOrdered ? html`<ol class="tasks">${listed}</ol>` : html`<ul class="list">${listed}</ul>`;
}

/** A message as a phone shows it. `below`: it, or why there is none. */
export function renderPhone(to: string, text: Html, below: Html = NOTHING): Html {
  return html`<figure class="phone"><figcaption>${to}</figcaption>${text}${below}</figure>
`;
}

function renderVisitor({ user, isSignedIn, formToken }: Visit): Html {
  if (formToken === '') return NOTHING;
  const leave = renderForm({ ...NO_VIEW, formToken }, 'leave', html`<button class="quiet">Sign out</button>`);
  const who = user !== undefined && html` · ${user.name}, ${user.role}${isSignedIn && leave}`;
  return html`<span class="visitor"><a href="/people">People</a> <a href="/settings">Settings</a>${who}</span>`;
}

/** `name`: as it was given with a password that is not its own. */
export function signInPage(name?: string): PageAnswer {
  const message = 'This is not the name and password of one of its users';
  const view = { ...NO_VIEW, wrong: name === undefined ? [] : [{ message, field: 'password' }] };
  const [user, secret] = [html` autocomplete="username"`, html` type="password" autocomplete="current-password"`];
  const fields = html`${renderField(view, { id: 'name', label: 'Name', value: name ?? '', attributes: user })}${renderField(view, { id: 'password', label: 'Password', attributes: secret })}<button>Sign in</button>`;
  return renderPage(view, { title: 'Sign in', body: html`<h1>Sign in</h1>${renderForm(view, 'enter', fields)}` });
}

/** What stands for a page that is not shown. */
export function refusedPage(status: number, title: string, said: string): PageAnswer {
  const body = html`<h1>${title}</h1><p class="lead">${said}</p><p><a href="/">All campaigns</a></p>`;
  return { ...renderPage(NO_VIEW, { title, body }), status, json: { said } };
}

export const MULTIPART = html` enctype="multipart/form-data"`;
export const PEOPLE_FILES = '.csv,.tsv,.txt,.ndjson,.jsonl,.json,.xlsx,.xlsm,.gz';

/** A form that posts to a path of the campaign, or of the console. */
export function renderForm(view: View, action: string, content: Html, attributes: Html = NOTHING): Html {
  return html`<form method="post" action="${view.at}/${action}"${attributes}>${renderHidden('token', view.formToken)}${content}</form>
`;
}

export function renderHidden(name: string, value: string | number): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

interface Field {
  readonly id: string;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly value?: string;
  readonly attributes?: Html;
}

export function renderField(view: View, { id, label, hint, value, attributes = NOTHING }: Field): Html {
  const own = value ?? view.written[id];
  const written = own !== undefined && html` value="${String(own)}"`;
  return html`<p class="field"><label for="${id}">${label}</label>${hint !== undefined && html`<span class="hint" id="${id}-hint">${hint}</span>`}${renderFault(view, id)}<input id="${id}" name="${id}"${written}${markWrong(view, id, hint && `${id}-hint`)}${attributes}></p>
`;
}

export function renderFileField(view: View, label: string, accept: string, hint?: string): Html {
  return renderField(view, { id: 'file', label, hint, attributes: html` type="file" accept="${accept}"` });
}

const SAVE = html`<p><button name="next" value="1">Save and go on</button> <button class="quiet">Save and show it</button></p>`;

/** The form of a step of a campaign. It says which job it changes, so that two people who edit are noticed. */
export function renderStep(view: View, step: string, content: Html, attributes?: Html): Html {
  const job = renderHidden('sha256', view.campaign?.sha256 ?? '');
  return renderForm(view, step, html`${job}${content}${SAVE}`, attributes);
}

/** What is confirmed is typed anew. */
export function renderCount(view: View, label: string): Html {
  return renderField(view, {
    id: 'count',
    label,
    value: '',
    attributes: html` inputmode="numeric" autocomplete="off" size="10"`,
  });
}

/** `options`: the value of each, and its title where that is another. */
export function renderSelect(
  view: View,
  { id, label }: Pick<Field, 'id' | 'label'>,
  options: readonly (readonly [value: string, title?: string])[],
  chosen: unknown = view.written[id],
): Html {
  const listed = options.map(
    ([value, title = value]) => html`<option value="${value}"${value === chosen && html` selected`}>${title}</option>`,
  );
  return html`<p class="field"><label for="${id}">${label}</label>${renderFault(view, id)}<select id="${id}" name="${id}"${markWrong(view, id)}>${listed}</select></p>
`;
}
