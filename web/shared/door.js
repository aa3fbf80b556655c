// What the doors, sign in and sign up, have in common: whoever is inside already goes on to where they wanted to go.
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import { useSession } from '/static/shared/session.js';
import { Top } from '/static/shared/top.js';
import { wayBack } from '/static/shared/way-back.js';

// A door is not to be found again with the browser's way back. Never returns: it stays busy until the page is gone.
export function goTo(address) {
  location.replace(address);
  return new Promise(() => {});
}

export const goOn = () => goTo(wayBack());

export function Door({ language, children }) {
  const { say } = language;
  const { user } = useSession();
  useEffect(() => {
    document.title = `${say('title')} · Tickettock`;
  }, [language]);
  useEffect(() => {
    if (user) goOn();
  }, [user]);
  return html`
    <${Top} title=${say('title')} language=${language}><a href="/">${say('toHouse')}</a><//>
    <main class="door">${children}</main>`;
}
