// The latest attempts to sign in, so that the owner notices a stranger's.
import { html } from 'htm/preact';
import { Button, Message } from '/static/shared/form.js';
import { bad } from '/static/shared/reasons.js';
import { deviceName } from '/static/account/device.js';
import { useList } from '/static/account/list.js';

const NAMED_REASONS = ['invalid_credentials', 'throttled'];

function resultWords({ success, method, reason }) {
  if (success) return method === 'GOOGLE' ? 'login.google' : 'login.success';
  return NAMED_REASONS.includes(reason) ? `login.${reason}` : 'login.failed';
}

function Login({ login, language }) {
  const { say, code } = language;
  const moment = new Date(login.at).toLocaleString(code, { dateStyle: 'medium', timeStyle: 'short' });
  return html`
    <li class=${login.success ? '' : 'refused'}>
      <p><strong>${say(resultWords(login))}</strong> · ${deviceName(login.userAgent, say)}</p>
      <p class="hint"><time datetime=${login.at}>${moment}</time> <span>${login.ip}</span></p>
    </li>`;
}

export function Logins({ stamp, language }) {
  const { say } = language;
  const { items, failed, load } = useList('/api/v1/users/me/logins', 'logins', stamp);
  return html`
    <section class="panel logins" aria-labelledby="logins-title">
      <h2 id="logins-title">${say('logins')}</h2>
      <p>${say(items?.length === 0 ? 'noLogins' : 'loginsHint')}</p>
      <ul class="entries" tabindex="0" aria-labelledby="logins-title">
        ${(items ?? []).map((login) => html`<${Login} key=${login.id} login=${login} language=${language} />`)}
      </ul>
      <${Message} message=${failed && bad('listUnknown')} say=${say} />
      ${failed && html`<${Button} kind="plain" onPress=${load}>${say('again')}<//>`}
    </section>`;
}
