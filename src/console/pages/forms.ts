import { type Html, html, NOTHING } from '../../report/page/html.js';
import { markWrong, renderFault, type View } from './wrong.js';

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
  const written = own === undefined ? NOTHING : html` value="${String(own)}"`;
  return html`<p class="field"><label for="${id}">${label}</label>${hint === undefined ? NOTHING : html`<span class="hint" id="${id}-hint">${hint}</span>`}${renderFault(view, id)}<input id="${id}" name="${id}"${written}${markWrong(view, id, hint && `${id}-hint`)}${attributes}></p>
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
    ([value, title = value]) =>
      html`<option value="${value}"${value === chosen ? html` selected` : NOTHING}>${title}</option>`,
  );
  return html`<p class="field"><label for="${id}">${label}</label>${renderFault(view, id)}<select id="${id}" name="${id}"${markWrong(view, id)}>${listed}</select></p>
`;
}
