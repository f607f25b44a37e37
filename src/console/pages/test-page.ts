import { html, NOTHING } from '../../report/page/html.js';
import { renderField, renderForm, renderPage, type View, type Wrong } from './layout.js';

export interface TestShown {
  readonly name: string;
  readonly numbers: string;
  /** Of the test before: who presses twice sends one. */
  readonly last: string;
  /** Such as `0.04 EUR`, of a message; undefined without prices. */
  readonly price: string | undefined;
  readonly said: string | undefined;
  readonly isAtWork: boolean;
}

export const TEST_ROWS: readonly (readonly [flag: string, title: string])[] = [
  ['', 'the first that is sent'],
  ['longest', 'the longest'],
  ['ucs2', 'one with a character that makes it shorter'],
];

/** Messages of a campaign, to own phones. */
export function testPage(view: View, shown: TestShown, wrong: readonly Wrong[] = []): string {
  const { name, numbers, last, price, said, isAtWork } = shown;
  const real =
    view.campaign?.isSandbox === true
      ? html`<p>On the sandbox nothing reaches a phone: you see whether it would be accepted.</p>`
      : html`<p class="note"><b>These are real messages</b>${price === undefined ? '' : `, about ${price} for each number`}.</p>`;
  const rows = TEST_ROWS.map(([flag, title]) => html`<option value="${flag}">${title}</option>`);
  const form = renderForm(
    view,
    `/c/${name}/test`,
    html`<input type="hidden" name="last" value="${last}">${renderField({ id: 'to', label: 'Your numbers', hint: 'With + and country code, 20 at most, with commas between them.', value: numbers })}<p class="field"><label for="row">Which message</label><select id="row" name="row">${rows}</select></p><button>Send the test</button>`,
  );
  return renderPage(view, {
    title: 'Test',
    wrong,
    refreshes: isAtWork,
    body: html`<h1>Test on your own phones</h1>${isAtWork ? html`<p class="lead" role="status" data-live="/c/${name}/test.json">The test is being sent.</p>` : html`${said === undefined ? NOTHING : html`<p class="lead">${said}</p>`}${real}<p>The people of the file get nothing by a test, and all of them afterwards.</p>${form}<p><a href="/c/${name}/check">Go on to the check</a></p>`}`,
    command: 'volley test job.yaml --to +6591234567 --longest',
  });
}
