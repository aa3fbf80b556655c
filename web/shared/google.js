// Sign in with Google without a script of Google's: the browser goes to Google's own page (OpenID Connect, implicit
// flow) and comes back to /signin with an ID token behind the #, which never travels to a server by itself. There
// is a button only when the server has a client id; until it is pressed, nothing is asked of Google.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '/static/shared/api.js';
import { untilClosed } from '/static/shared/memory.js';
import { randomSecret } from '/static/shared/random.js';
import { bad, whyNot } from '/static/shared/reasons.js';
import { sessionMark } from '/static/shared/refresh.js';

const GOOGLE = 'https://accounts.google.com/o/oauth2/v2/auth';
const ASKED_KEY = 'tickettock.google';

const returnAddress = () => `${location.origin}/signin`;

// The server's question goes along; its other half stays in a cookie, without which the answer is worth nothing.
async function leaveForGoogle(clientId) {
  const { nonce } = await call('/api/v1/auth/google/nonce', { method: 'POST' });
  const asked = { state: randomSecret(), search: location.search };
  untilClosed.set(ASKED_KEY, JSON.stringify(asked));
  const query = new URLSearchParams({
    client_id: clientId, redirect_uri: returnAddress(), response_type: 'id_token', scope: 'openid email profile',
    state: asked.state, nonce,
  });
  location.assign(`${GOOGLE}?${query}`);
}

// The ID token this tab asked for, if it comes back with one; null when it does not come from Google. Only the answer
// to our own question counts: else anybody's link could sign us in as somebody else.
function takeAnswer() {
  const answer = new URLSearchParams(location.hash.slice(1));
  if (!answer.has('id_token') && !answer.has('error')) return null;
  const asked = JSON.parse(untilClosed.get(ASKED_KEY)); // null: nothing
  untilClosed.remove(ASKED_KEY);
  history.replaceState(null, '', `/signin${asked?.search ?? ''}`);
  const token = answer.get('id_token');
  return { token: asked && token && asked.state === answer.get('state') ? token : null };
}

function explain(refused) {
  if (refused.status === 401) return bad('google.failed');
  return refused.reason === 'email_taken' ? bad('google.emailTaken') : whyNot(refused);
}

// {underWay, message}
export function useGoogleAnswer(onSignedIn) {
  const [answer] = useState(takeAnswer);
  const [message, setMessage] = useState(answer && !answer.token ? bad('google.failed') : null);
  const [underWay, setUnderWay] = useState(Boolean(answer?.token));
  useEffect(() => {
    if (!answer?.token) return;
    call('/api/v1/auth/google', { method: 'POST', body: { credential: answer.token } }).then(() => {
      sessionMark.set();
      onSignedIn();
    }, (refused) => {
      setMessage(explain(refused));
      setUnderWay(false);
    });
  }, []);
  return { underWay, message };
}

const Logo = () => html`
  <svg viewBox="0 0 18 18" aria-hidden="true">
    <path fill="#4285f4" d="M17.64 9.2c0-.637-.057-1.251-.164-1.84H9v3.481h4.844c-.209 1.125-.843 2.078-1.796 2.717v2.258h2.908c1.702-1.567 2.684-3.874 2.684-6.615z" />
    <path fill="#34a853" d="M9 18c2.43 0 4.467-.806 5.956-2.18l-2.908-2.259c-.806.54-1.837.86-3.048.86-2.344 0-4.328-1.584-5.036-3.711H.957v2.332A8.997 8.997 0 0 0 9 18z" />
    <path fill="#fbbc05" d="M3.964 10.71A5.41 5.41 0 0 1 3.682 9c0-.593.102-1.17.282-1.71V4.958H.957A8.996 8.996 0 0 0 0 9c0 1.452.348 2.827.957 4.042l3.007-2.332z" />
    <path fill="#ea4335" d="M9 3.58c1.321 0 2.508.454 3.44 1.345l2.582-2.58C13.463.891 11.426 0 9 0A8.997 8.997 0 0 0 .957 4.958L3.964 7.29C4.672 5.163 6.656 3.58 9 3.58z" />
  </svg>`;

export function Google({ underWay, say }) {
  const [clientId, setClientId] = useState(null);
  const [leaving, setLeaving] = useState(false);
  const [message, setMessage] = useState(null);
  useEffect(() => {
    call('/signin/options').then(({ googleClientId }) => setClientId(googleClientId), () => {});
  }, []);
  if (!clientId) return null;
  const busy = underWay || leaving;
  const leave = () => {
    setLeaving(true);
    setMessage(null);
    leaveForGoogle(clientId).catch((refused) => setMessage(whyNot(refused))).finally(() => setLeaving(false));
  };
  return html`
    <p class="or">${say('google.or')}</p>
    <button class="plain google" type="button" aria-disabled=${busy ? 'true' : undefined}
      onClick=${() => busy || leave()}><${Logo} />${say(busy ? 'google.underWay' : 'google.go')}</button>
    ${message && html`<p class="message bad" role="alert">${say(message.key, message.values)}</p>`}`;
}
