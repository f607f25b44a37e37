import { PAGE_STYLE } from '../report/page/report-page.js';

/** The style of the report, and of what only the console has: forms, lists, a phone. */
export const CONSOLE_STYLE = `${PAGE_STYLE}
:root{--action:#0b5cad;--onAction:#fff;--focus:#0b5cad}
@media (prefers-color-scheme:dark){:root{--action:#7db8f5;--onAction:#0d1117;--focus:#9ecbff}}
a{color:var(--action)}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
main:focus{outline:0}
.skip{position:absolute;left:-100vw}.skip:focus{left:1rem;top:.5rem;background:var(--ground);padding:.5rem;z-index:1}
header{border-bottom:1px solid var(--line)}
nav{display:flow-root;max-width:60rem;margin:0 auto;padding:.75rem 1rem;overflow-wrap:anywhere}
.steps{color:var(--dim);padding-bottom:0}.steps a,.pages a{margin-right:1rem}
.brand{font-weight:700;margin-right:1rem}
.visitor{float:right;color:var(--dim)}
.visitor form{display:inline;margin-left:.5rem}
.banner{margin:0;padding:.4rem 1rem;text-align:center;background:var(--soft);border-top:1px solid var(--line)}
.banner.live{background:#8f1d12;color:#fff;border-color:#8f1d12}
.wrong{border:3px solid var(--rejected);padding:.25rem 1rem .75rem;margin:0 0 1.5rem}
.wrong h2{border:0;margin:.5rem 0 0;padding:0}
.wrong ul{padding-left:1.1rem;margin:.25rem 0;overflow-wrap:anywhere}
.note{padding:.6rem .9rem;border-left:3px solid var(--unprocessed);background:var(--soft)}
.field{margin:1rem 0}
label{display:block;font-weight:600}
.hint{display:block;color:var(--dim);font-size:.95rem;overflow-wrap:anywhere}
input:not([type=hidden]),select,textarea{font:inherit;color:inherit;background:var(--ground);border:1px solid var(--dim);border-radius:4px;padding:.45rem .6rem;margin-top:.25rem;max-width:100%}
input[type=file],textarea{width:100%}
:is(input,select,textarea)[aria-invalid=true]{border:2px solid var(--rejected)}
.fault{display:block;color:var(--rejected);font-weight:600;overflow-wrap:anywhere}
button{font:inherit;font-weight:600;padding:.5rem 1rem;border:1px solid var(--action);border-radius:4px;background:var(--action);color:var(--onAction);cursor:pointer;overflow-wrap:anywhere;max-width:100%}
button.quiet{background:transparent;color:var(--action);font-weight:400;padding:.3rem .7rem;margin:.15rem 0}
.list,.tasks{padding-left:1.1rem}
.list li,.tasks li{margin:.35rem 0;overflow-wrap:anywhere}
.state{color:var(--dim);margin-left:1rem}
.phone{max-width:26rem;margin:.75rem 0}
.phone figcaption{color:var(--dim);font-size:.9rem;margin-bottom:.4rem}
.phone blockquote{border:0;border-radius:12px;margin:.25rem 0}
.inserts button{margin-right:.25rem}
.column{border:1px solid var(--line);border-radius:4px;margin:.5rem 0;padding:.4rem .75rem;overflow-wrap:anywhere}
.column summary{cursor:pointer}
label.tick{font-weight:400;padding:.2rem 0}
label.inline{display:inline-block;margin-right:.75rem}
input[type=checkbox],input[type=radio]{width:1.3rem;height:1.3rem;margin:0 .4rem 0 0;vertical-align:middle}
.fix input:not([type=hidden]),.fix textarea{min-width:11rem}
.keep{position:sticky;bottom:0;margin:0;padding:.6rem 0;background:var(--ground);border-top:1px solid var(--line)}
html{scroll-padding-bottom:6rem}
@media (max-width:40rem){.fix thead{position:absolute;left:-100vw}.fix tr,.fix td,.fix tr>th{display:block;border:0;text-align:left;padding:.15rem 0;white-space:normal;overflow-wrap:anywhere}.fix tr{border-top:1px solid var(--line);padding:.6rem 0}}
footer{overflow-wrap:anywhere}
`;

/**
 * Sets texts and attributes, and nothing else: progress, an upload in slices that goes on where it broke off, names of columns put into a
 * text. Every page works without it.
 */
export const CONSOLE_SCRIPT = `'use strict';
const all = (selector) => [...document.querySelectorAll(selector)];
for (const each of all('[data-script]')) each.hidden = false;
for (const button of all('[data-insert]')) button.addEventListener('click', () => {
  const text = document.getElementById('message');
  text.setRangeText(button.dataset.insert, text.selectionStart, text.selectionEnd, 'end');
  text.focus();
});
for (const form of all('form')) {
  let isSent = false;
  form.addEventListener('submit', (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
    setTimeout(() => { isSent = false; }, 3000);
  });
}
const live = document.querySelector('[data-live]');
if (live) {
  let wait = 1000;
  const look = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(live.dataset.live, { headers: { accept: 'application/json' } });
        if (answer.status >= 500) throw answer;
        const { title, said } = await answer.json();
        if (title !== live.dataset.title || !said) return location.replace(live.dataset.live);
        if (live.textContent !== said) live.textContent = said;
        wait = 1000;
      } catch { wait = Math.min(wait * 2, 30000); }
    }
    setTimeout(look, wait);
  };
  setTimeout(look, wait);
}
const counted = document.querySelector('form[data-count]');
if (counted) {
  let asked = 0;
  counted.addEventListener('change', async () => {
    const own = ++asked;
    const body = new URLSearchParams([...new FormData(counted), ['count', '1']]);
    // Another sheet is only chosen by who sends the form.
    body.delete('sheet');
    const answer = await fetch(counted.action, { method: 'POST', body, headers: { accept: 'application/json' } });
    const { said } = await answer.json();
    if (own === asked) counted.querySelector('[data-counted]').textContent = said;
  });
}
const upload = document.querySelector('form[data-slices]');
if (upload) upload.addEventListener('submit', async (event) => {
  const [file] = upload.elements.file.files;
  if (!file?.size) return;
  event.preventDefault();
  const said = upload.querySelector('[data-upload]');
  const token = upload.elements.token.value;
  const at = upload.dataset.slices + '?name=' + encodeURIComponent(file.name) + '&bytes=' + file.size;
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
  const say = (text) => { said.textContent = text; };
  const ask = async (method, url, body) => {
    const answer = await fetch(url, { method, body, redirect: 'manual', headers: { accept: 'application/json', 'x-volley-token': token, ...(body ? { 'content-type': 'application/octet-stream' } : {}) } });
    if (answer.ok) return answer.json();
    const isOut = answer.type === 'opaqueredirect' || answer.status === 401;
    const refused = isOut ? 'You are not signed in any more. Reload the page.' : answer.status < 500 && 'It was refused, with status ' + answer.status + '.';
    const { said = refused } = await answer.json().catch(() => ({}));
    throw Object.assign(new Error(said), { isSaid: said });
  };
  let failures = 0, called;
  for (let { has, slice } = { has: -1, slice: 1 }; has < file.size; ) {
    try {
      if (has < 0) ({ has, slice } = await ask('GET', at));
      if (has < file.size) ({ has, name: called } = await ask('PUT', at + '&offset=' + has, file.slice(has, has + slice)));
      failures = 0;
      say(megabytes(has) + ' of ' + megabytes(file.size) + ' MB');
    } catch (error) {
      if (error.isSaid) return say(error.message);
      failures += 1;
      say('The connection broke off. Going on as soon as it is back.');
      has = -1;
      await new Promise((resolve) => setTimeout(resolve, Math.min(1000 * failures, 15000)));
    }
  }
  // Says by the same form which file it is here.
  const name = upload.elements.file;
  Object.assign(name, { type: 'hidden', name: 'name', value: called });
  upload.enctype = 'application/x-www-form-urlencoded';
  upload.submit();
});
`;
