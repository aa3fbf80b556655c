// The latest attempts to sign in, so that the owner notices a stranger's.
import { html } from 'htm/preact';
import { Button, Message } from '/static/shared/form.js';
import { bad } from '/static/shared/reasons.js';
import { deviceName } from '/static/account/device.js';
import { useList } from '/static/account/list.js';

const NAMED_REASONS = ['invalid_credentials', 'throttled'];

function resultWords({ success, method, reason }) {
  if (success) return method === 'google' ? 'login.google' : 'login.success';
  return NAMED_REASONS.includes(reason) ? `login.${reason}` : 'login.failed';
}

export function Logins({ stamp, language }) {
  const { say, code } = language;
  const { items, failed, load } = useList('/api/v1/users/me/logins', 'logins', stamp);
  return html`
    <section class="panel logins" aria-labelledby="logins-title">
      <h2 id="logins-title">${say('logins')}</h2>
      <p>${say(items?.length === 0 ? 'noLogins' : 'loginsHint')}</p>
      ${items?.length > 0 && html`
        <div class="scroll" role="region" tabindex="0" aria-labelledby="logins-title">
          <table>
            <thead><tr>
              <th scope="col">${say('time')}</th><th scope="col">${say('result')}</th>
              <th scope="col">${say('device')}</th><th scope="col">${say('address')}</th>
            </tr></thead>
            <tbody>${items.map((login) => html`
              <tr key=${login.id} class=${login.success ? '' : 'refused'}>
                <td><time datetime=${login.at}>${new Date(login.at).toLocaleString(code, { dateStyle: 'short', timeStyle: 'short' })}</time></td>
                <td>${say(resultWords(login))}</td><td>${deviceName(login.userAgent ?? '', say)}</td><td>${login.ip}</td>
              </tr>`)}</tbody>
          </table>
        </div>`}
      <${Message} message=${failed && bad('sessionsUnknown')} say=${say} />
      ${failed && html`<${Button} kind="plain" onPress=${load}>${say('again')}<//>`}
    </section>`;
}
