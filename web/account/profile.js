// Name and phone number; the e-mail is shown.
import { html } from 'htm/preact';
import { call } from '/static/shared/api.js';
import { Button, Field, Message, useForm } from '/static/shared/form.js';
import { faults, nameFault } from '/static/shared/checks.js';
import { good, whyNotForm } from '/static/shared/reasons.js';

export function Profile({ session, language }) {
  const { say } = language;
  const { user } = session;
  const form = useForm({ name: user.name, phone: user.phone ?? '' }, {
    check: ({ name }) => faults({ name: nameFault(name) }),
    send: async ({ name, phone }) => {
      const body = { name: name.trim(), phone: phone.trim() };
      session.update((await call('/api/v1/users/me', { method: 'PATCH', body })).user);
      return good('saved');
    },
    explain: (refused) => whyNotForm(refused, { name: 'wrong.name', phone: 'wrong.phone' }),
  });
  return html`
    <section class="panel profile" aria-labelledby="profile-title">
      <h2 id="profile-title">${say('profile')}</h2>
      <form ...${form.bind}>
        <${Field} name="email" label=${say('email')} value=${user.email} onInput=${() => {}} hint=${say('emailFixed')}
          type="email" autocomplete="username" readOnly />
        <${Field} ...${form.field('name', say)} label=${say('name')} autocomplete="name" maxlength="100" />
        <${Field} ...${form.field('phone', say)} label=${say('phoneOptional')} hint=${say('phoneHint')} type="tel" autocomplete="tel"
          maxlength="40" />
        <${Message} message=${form.message} say=${say} />
        <${Button} kind="main" type="submit" disabled=${form.underWay}>${say(form.underWay ? 'saving' : 'save')}<//>
      </form>
    </section>`;
}
