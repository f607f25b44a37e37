import { escapeText } from '../../command/screen.js';
import { type Html, html, NOTHING } from '../../report/page/html.js';
import { NO_VISIT, type Visit } from '../access.js';
import type { Printed } from '../commands.js';

/** Who looks at a page, and what it is about. */
export interface View extends Visit {
  /** Undefined on pages about no campaign. */
  readonly campaign?: { readonly name: string; readonly isSandbox: boolean; readonly account: string } | undefined;
}

/** One thing that is wrong. `field`: the id of what is to be changed on this page. */
export interface Wrong {
  readonly message: string;
  readonly hint?: string | null;
  readonly field?: string;
}

interface PageParts {
  readonly title: string;
  readonly body: Html;
  readonly wrong?: readonly Wrong[];
  /** What does the same in a terminal. */
  readonly command?: string;
  /** Seconds after which it is asked for again where no script does. */
  readonly refreshes?: boolean;
}

export function renderPage(
  { campaign, ...visit }: View,
  { title, body, wrong = [], command, refreshes = false }: PageParts,
): string {
  const banner =
    campaign === undefined
      ? NOTHING
      : campaign.isSandbox
        ? html`<p class="banner sandbox"><b>Sandbox</b>: no message leaves this machine</p>`
        : html`<p class="banner live"><b>Live: ${campaign.account}</b>. Messages leave this machine</p>`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refreshes ? html`<noscript><meta http-equiv="refresh" content="3"></noscript>` : NOTHING}
<title>${wrong.length > 0 ? 'Error: ' : ''}${title} – Volley</title>
<link rel="stylesheet" href="/assets/console.css">
<script src="/assets/console.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><nav aria-label="Volley"><a class="brand" href="/">Volley</a>${campaign === undefined ? NOTHING : html` <a href="/c/${campaign.name}">${campaign.name}</a>`}${renderVisitor(visit)}</nav>${banner}</header>
<main id="main" tabindex="-1">
${renderWrong(wrong)}${body}
${command === undefined ? NOTHING : html`<footer>In the terminal: <code>${command}</code></footer>`}
</main>
</body>
</html>
`;
  return showHidden(page.text);
}

/** Characters that cannot be seen, or turn what follows, are shown as what they are, as in a terminal; what a form sends stays as it is. */
function showHidden(page: string): string {
  return page.replace(/<textarea[^<>]*>[^<]*|>[^<]+/g, (text) =>
    text.startsWith('<') ? text : text.split('\n').map(escapeText).join('\n'),
  );
}

function renderWrong(wrong: readonly Wrong[]): Html {
  if (wrong.length === 0) return NOTHING;
  const items = wrong.map(({ message, hint, field }) => {
    const said = field === undefined ? html`${message}` : html`<a href="#${field}">${sayOfField(message)}</a>`;
    return html`<li>${said}${hint ? html`<br>${hint}` : NOTHING}</li>`;
  });
  return html`<div class="wrong" role="alert" aria-labelledby="wrong"><h2 id="wrong">There is a problem</h2><ul>${items}</ul></div>
`;
}

/** Who follows a fault to its field needs neither the line nor the key that stands for it in the job file. */
function sayOfField(message: string): string {
  return message
    .replace(/^.*job\.yaml, line \d+: /, '')
    .replace(/^"?[\w[\]]+(?:\.[\w[\]]+)+"? (is|has|holds) /, 'It $1 ');
}

/** The sentences of the command itself. */
export function wrongOf({ error }: Printed, field?: string): Wrong[] {
  if (error === null) return [];
  const at = field === undefined ? {} : { field };
  if (error.problems.length === 0) return [{ message: error.message, hint: error.hint, ...at }];
  return error.problems.map(({ file, line, message, hint }) => {
    const where = file === undefined ? '' : `${file}${line ? `, line ${line}` : ''}: `;
    return { message: `${where}${message}`, hint, ...at };
  });
}

/** A form that posts to a path of this console. */
export function renderForm(view: View, action: string, content: Html, attributes: Html = NOTHING): Html {
  return html`<form method="post" action="${action}"${attributes}><input type="hidden" name="token" value="${view.formToken}">${content}</form>
`;
}

/** `hint`: below the label. */
export function renderField({
  id,
  label,
  hint,
  value,
  attributes = NOTHING,
}: {
  id: string;
  label: string;
  hint?: string;
  value: string;
  attributes?: Html;
}): Html {
  const described = hint === undefined ? NOTHING : html` aria-describedby="${id}-hint"`;
  return html`<p class="field"><label for="${id}">${label}</label>${hint === undefined ? NOTHING : html`<span class="hint" id="${id}-hint">${hint}</span>`}<input id="${id}" name="${id}" value="${value}"${described}${attributes}></p>
`;
}

function renderVisitor({ user, isSignedIn, formToken }: Visit): Html {
  if (user === undefined) return NOTHING;
  const leave = html`<form method="post" action="/leave"><input type="hidden" name="token" value="${formToken}"><button class="quiet">Sign out</button></form>`;
  return html`<span class="visitor">${user.name}, ${user.role}${isSignedIn ? leave : NOTHING}</span>`;
}

/** `name`: as it was given with a password that is not its own. */
export function signInPage(name?: string): string {
  const wrong =
    name === undefined ? [] : [{ message: 'This is not the name and password of one of its users', field: 'password' }];
  const password = html` type="password" autocomplete="current-password"`;
  const fields = html`${renderField({ id: 'name', label: 'Name', value: name ?? '', attributes: html` autocomplete="username"` })}${renderField({ id: 'password', label: 'Password', value: '', attributes: password })}<button>Sign in</button>`;
  return renderPage(NO_VISIT, {
    title: 'Sign in',
    wrong,
    body: html`<h1>Sign in</h1>${renderForm(NO_VISIT, '/enter', fields)}`,
  });
}

/** A number to type, and why it was refused. */
export function renderCount(label: string, wrong: readonly Wrong[]): Html {
  const invalid = wrong.some(({ field }) => field === 'count') ? html` aria-invalid="true"` : NOTHING;
  return html`<p class="field"><label for="count">${label}</label><input id="count" name="count" inputmode="numeric" autocomplete="off" size="10"${invalid}></p>`;
}

/** What stands for a page that is not shown. */
export function refusedPage(title: string, said: string): string {
  return renderPage(NO_VISIT, {
    title,
    body: html`<h1>${title}</h1><p class="lead">${said}</p><p><a href="/">All campaigns</a></p>`,
  });
}
