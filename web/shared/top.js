// The strip at the top of a page: who is signed in, and the language.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { LanguageSwitch } from '/static/shared/language.js';
import { doorFromHere } from '/static/shared/way-back.js';

function Who({ session, say }) {
  const [failed, setFailed] = useState(false);
  const { user } = session;
  const leave = () => {
    setFailed(false);
    session.signOut().catch(() => setFailed(true));
  };
  if (user === undefined) return null;
  if (user === null) {
    return html`<a href=${doorFromHere('/signin')}>${say('signIn')}</a> <a href=${doorFromHere('/signup')}>${say('signUp')}</a>`;
  }
  return html`
    <a class="me" href="/account" aria-label=${say('accountOf', { name: user.name })}>${user.name}</a>
    <button type="button" onClick=${leave}>${say('signOut')}</button>
    ${failed && html`<span role="alert">${say('signOutFailed')}</span>`}`;
}

// children: more links of the page.
export function Corner({ session, language, children }) {
  return html`
    <div class="corner">
      <nav class="who">
        ${children}
        ${session && html`<${Who} session=${session} say=${language.say} />`}
      </nav>
      <${LanguageSwitch} language=${language} />
    </div>`;
}

export function Top({ title, session, language, children }) {
  return html`
    <header class="top">
      <h1>${title}</h1>
      <${Corner} session=${session} language=${language}>${children}<//>
    </header>`;
}
