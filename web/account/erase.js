// The end of an account. Asks for a word, so that it does not happen by a slip, and for the password, so that it is not
// done by somebody who finds the page open. Whoever signs in with Google has none, and must have signed in a moment ago.
import { html } from 'htm/preact';
import { call } from '/static/shared/api.js';
import { Button, Field, Message, PasswordField, useForm } from '/static/shared/form.js';
import { faults, passwordFault } from '/static/shared/checks.js';
import { bad, whyNotForm } from '/static/shared/reasons.js';

function explain(refused) {
  if (refused.reason === 'invalid_credentials') return { wrong: { password: 'wrong.currentPassword' }, clear: ['password'] };
  if (refused.reason === 'signin_too_old') return { message: bad('eraseSignIn') };
  return whyNotForm(refused, { password: 'wrong.currentPassword' });
}

export function Erase({ user, onErased, language }) {
  const { say } = language;
  const form = useForm({ password: '', word: '' }, {
    check: ({ password, word }) => faults({
      password: user.hasPassword ? passwordFault(password) : undefined,
      word: word.trim().toLowerCase() === say('eraseWord') ? undefined : 'wrong.word',
    }),
    send: async ({ password }) => {
      await call('/api/v1/users/me', { method: 'DELETE', body: user.hasPassword ? { password } : {} });
      onErased();
    },
    explain,
  });
  return html`
    <section class="panel erase" aria-labelledby="erase-title">
      <h2 id="erase-title">${say('erase')}</h2>
      <p>${say('eraseHint')}</p>
      <form ...${form.bind}>
        ${user.hasPassword && html`<${PasswordField} ...${form.field('password', say)} id="erase-password" label=${say('password')}
          autocomplete="current-password" say=${say} />`}
        <${Field} ...${form.field('word', say)} label=${say('eraseConfirm', { word: say('eraseWord') })} autocomplete="off"
          autocapitalize="none" spellcheck=${false} />
        <${Message} message=${form.message} say=${say} />
        <${Button} kind="danger" type="submit" disabled=${form.underWay}>${say(form.underWay ? 'erasing' : 'eraseNow')}<//>
      </form>
    </section>`;
}
