// A new password, for whoever knows the old one.
import { html } from 'htm/preact';
import { call } from '/static/shared/api.js';
import { Button, Message, PasswordField, useForm } from '/static/shared/form.js';
import { faults, newPasswordFault, passwordFault } from '/static/shared/checks.js';
import { good, whyNotForm } from '/static/shared/reasons.js';

const EMPTY = { currentPassword: '', newPassword: '' };

const explain = (refused) => (refused.reason === 'invalid_credentials'
  ? { wrong: { currentPassword: 'wrong.currentPassword' }, clear: ['currentPassword'] }
  : whyNotForm(refused, { currentPassword: 'wrong.currentPassword', newPassword: 'wrong.passwordLong' }));

function PasswordForm({ email, onChanged, say }) {
  const form = useForm(EMPTY, {
    check: ({ currentPassword, newPassword }) => faults({
      currentPassword: passwordFault(currentPassword),
      newPassword: newPasswordFault(newPassword) ?? (newPassword === currentPassword ? 'wrong.samePassword' : undefined),
    }),
    send: async (passwords) => {
      await call('/api/v1/users/me/password', { method: 'PUT', body: passwords });
      form.clear('currentPassword', 'newPassword');
      onChanged();
      return good('passwordChanged');
    },
    explain,
  });
  return html`
    <form ...${form.bind}>
      <input type="text" name="username" autocomplete="username" value=${email} aria-label=${say('email')} hidden readOnly />
      <${PasswordField} ...${form.field('currentPassword', say)} label=${say('currentPassword')} autocomplete="current-password" say=${say} />
      <${PasswordField} ...${form.field('newPassword', say)} label=${say('newPassword')} hint=${say('passwordHint')}
        autocomplete="new-password" say=${say} />
      <${Message} message=${form.message} say=${say} />
      <${Button} kind="main" type="submit" disabled=${form.underWay}>${say(form.underWay ? 'changing' : 'change')}<//>
    </form>`;
}

// onChanged(): other sessions have ended.
export function Password({ user, onChanged, language }) {
  const { say } = language;
  return html`
    <section class="panel password" aria-labelledby="password-title">
      <h2 id="password-title">${say('changePassword')}</h2>
      ${user.hasPassword
        ? html`<${PasswordForm} email=${user.email} onChanged=${onChanged} say=${say} />`
        : html`<p>${say('noPassword')}</p>`}
    </section>`;
}
