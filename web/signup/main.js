// The sign-up page. Whoever has signed up is signed in.
import { html, render } from 'htm/preact';
import { call } from '/static/shared/api.js';
import { useLanguage } from '/static/shared/language.js';
import { Button, Field, Message, PasswordField, useForm } from '/static/shared/form.js';
import { emailFault, faults, nameFault, newPasswordFault } from '/static/shared/checks.js';
import { whyNotForm } from '/static/shared/reasons.js';
import { Door, goOn, goTo } from '/static/shared/door.js';
import { Google } from '/static/shared/google.js';
import { signIn } from '/static/shared/session.js';
import { otherDoor } from '/static/shared/way-back.js';
import { words } from '/static/signup/words.js';

const FAULTS = { name: 'wrong.name', email: 'wrong.email', password: 'wrong.passwordLong', phone: 'wrong.phone' };

async function register({ name, email, password, phone }) {
  const body = { name: name.trim(), email: email.trim(), password, ...(phone.trim() ? { phone: phone.trim() } : {}) };
  await call('/api/v1/auth/register', { method: 'POST', body });
  // If that fails, the account is there nevertheless, and its owner may try again at the other door.
  const signedIn = await signIn(body.email, password).catch(() => null);
  await (signedIn ? goOn() : goTo(otherDoor('/signin')));
}

function App() {
  const language = useLanguage(words);
  const { say } = language;
  const form = useForm({ name: '', email: '', password: '', phone: '' }, {
    check: ({ name, email, password }) =>
      faults({ name: nameFault(name), email: emailFault(email), password: newPasswordFault(password) }),
    send: register,
    explain: (refused) => (refused.reason === 'email_taken' ? { wrong: { email: 'wrong.emailTaken' } } : whyNotForm(refused, FAULTS)),
  });
  return html`
    <${Door} language=${language}>
      <form class="panel entrance" ...${form.bind}>
        <${Field} ...${form.field('name', say)} label=${say('name')} hint=${say('nameHint')} autocomplete="name" maxlength="100" />
        <${Field} ...${form.field('email', say)} label=${say('email')} type="email" autocomplete="username"
          autocapitalize="none" spellcheck=${false} />
        <${PasswordField} ...${form.field('password', say)} label=${say('password')} hint=${say('passwordHint')}
          autocomplete="new-password" say=${say} />
        <${Field} ...${form.field('phone', say)} label=${say('phoneOptional')} hint=${say('phoneHint')} type="tel" autocomplete="tel"
          maxlength="40" />
        <${Message} message=${form.message} say=${say} />
        <${Button} kind="main" type="submit" disabled=${form.underWay}>${say(form.underWay ? 'submitting' : 'submit')}<//>
        <${Google} say=${say} />
        <p class="other">${say('haveAccount')} <a href=${otherDoor('/signin')}>${say('toSignIn')}</a></p>
      </form>
    <//>`;
}

render(html`<${App} />`, document.getElementById('page'));
