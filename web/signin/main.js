// The sign-in page.
import { html, render } from 'htm/preact';
import { useLanguage } from '/static/shared/language.js';
import { Button, Field, Message, PasswordField, useForm } from '/static/shared/form.js';
import { emailFault, faults, passwordFault } from '/static/shared/checks.js';
import { bad, whyNotForm } from '/static/shared/reasons.js';
import { Door, goOn } from '/static/shared/door.js';
import { Google, useGoogleAnswer } from '/static/shared/google.js';
import { signIn } from '/static/shared/session.js';
import { otherDoor } from '/static/shared/way-back.js';
import { words } from '/static/signin/words.js';

const explain = (refused) => (refused.reason === 'invalid_credentials'
  ? { message: bad('reason.invalid_credentials'), clear: ['password'] }
  : whyNotForm(refused, { email: 'wrong.email', password: 'wrong.field' }));

function App() {
  const language = useLanguage(words);
  const { say } = language;
  const form = useForm({ email: '', password: '' }, {
    check: ({ email, password }) => faults({ email: emailFault(email), password: passwordFault(password) }),
    send: async ({ email, password }) => {
      await signIn(email.trim(), password);
      await goOn();
    },
    explain,
  });
  const google = useGoogleAnswer(goOn);
  return html`
    <${Door} language=${language}>
      <form class="panel entrance" ...${form.bind}>
        <${Field} ...${form.field('email', say)} label=${say('email')} type="email" autocomplete="username"
          autocapitalize="none" spellcheck=${false} />
        <${PasswordField} ...${form.field('password', say)} label=${say('password')} autocomplete="current-password" say=${say} />
        <${Message} message=${form.message ?? google.message} say=${say} />
        <${Button} kind="main" type="submit" disabled=${form.underWay}>${say(form.underWay ? 'submitting' : 'submit')}<//>
        <${Google} underWay=${google.underWay} say=${say} />
        <p class="other">${say('newHere')} <a href=${otherDoor('/signup')}>${say('toSignUp')}</a></p>
      </form>
    <//>`;
}

render(html`<${App} />`, document.getElementById('page'));
