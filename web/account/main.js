// My account: profile, password, where I am signed in, and the way out.
import { html, render } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLanguage } from '/static/shared/language.js';
import { sessionMark } from '/static/shared/refresh.js';
import { useSession } from '/static/shared/session.js';
import { Top } from '/static/shared/top.js';
import { words } from '/static/account/words.js';
import { Profile } from '/static/account/profile.js';
import { Password } from '/static/account/password.js';
import { Sessions } from '/static/account/sessions.js';
import { Logins } from '/static/account/logins.js';
import { Erase } from '/static/account/erase.js';

function Rooms({ session, onErased, language }) {
  const [stamp, setStamp] = useState(0); // counts what changed the lists of sessions and sign-ins
  const leave = () => {
    sessionMark.clear();
    session.update(null);
  };
  return html`
    <div class="rooms">
      <${Profile} session=${session} language=${language} />
      <${Password} user=${session.user} onChanged=${() => setStamp(stamp + 1)} language=${language} />
      <${Sessions} stamp=${stamp} onLeave=${leave} language=${language} />
      <${Logins} stamp=${stamp} language=${language} />
      <${Erase} user=${session.user} language=${language} onErased=${() => {
        onErased();
        leave();
      }} />
    </div>`;
}

function Farewell({ say }) {
  const heading = useRef();
  useEffect(() => heading.current.focus(), []);
  return html`
    <section class="panel entrance" aria-labelledby="farewell-title">
      <h2 id="farewell-title" ref=${heading} tabindex="-1">${say('erased')}</h2>
      <p>${say('erasedHint')}</p>
      <p><a href="/">${say('toHouse')}</a></p>
    </section>`;
}

function App() {
  const language = useLanguage(words);
  const { say } = language;
  const session = useSession();
  const [erased, setErased] = useState(false);
  useEffect(() => {
    document.title = `${say('title')} · Tickettock`;
  }, [language]);
  useEffect(() => {
    if (session.user === null && !erased) location.replace('/signin?next=%2Faccount');
  }, [session.user, erased]);
  return html`
    <${Top} title=${say('title')} session=${session} language=${language}><a href="/">${say('toHouse')}</a><//>
    <main>
      ${erased && html`<${Farewell} say=${say} />`}
      ${session.user
        ? html`<${Rooms} key=${session.user.id} session=${session} onErased=${() => setErased(true)} language=${language} />`
        : !erased && html`<p class="loading" role="status">${say('loading')}</p>`}
    </main>`;
}

render(html`<${App} />`, document.getElementById('page'));
