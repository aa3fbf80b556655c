// The operator's page: an admin who is signed in or the token opens it; figures once a second; a new house.
import { html, render } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, Field, Message, useForm } from '/static/shared/form.js';
import { useLanguage } from '/static/shared/language.js';
import { untilClosed } from '/static/shared/memory.js';
import { bad } from '/static/shared/reasons.js';
import { useSession } from '/static/shared/session.js';
import { Top } from '/static/shared/top.js';
import { words } from '/static/admin/words.js';
import { fetchOverview, isShut, useOverview } from '/static/admin/overview.js';
import { Attempts, History, SeatsLeft } from '/static/admin/panels.js';
import { Release } from '/static/admin/release.js';
import { Reset } from '/static/admin/reset.js';

const TOKEN_KEY = 'tickettock.admin-token';

const whyShut = ({ status }) => (status === 404 ? 'switchedOff' : 'wrongToken');

// What the token field or the form has to say about it.
const explain = (refused) => {
  if (!isShut(refused)) return { message: bad('lost') };
  return refused.status === 404 ? { message: bad('switchedOff') } : { wrong: { token: 'wrongToken' } };
};

// message: why the page has closed again.
function Entrance({ message, signedIn, onOpen, language }) {
  const { say } = language;
  const form = useForm({ token: '' }, {
    send: async ({ token }) => {
      onOpen(token, await fetchOverview(token));
    },
    explain,
  });
  return html`
    <form class="panel entrance" ...${form.bind}>
      ${signedIn && html`<p>${say('notAdmin')}</p>`}
      <${Field} ...${form.field('token', say)} id="token" label=${say('token')} hint=${say('tokenHint')} type="password" autocomplete="off" />
      <${Button} kind="main" type="submit" disabled=${form.underWay}>${say(form.underWay ? 'entering' : 'enter')}<//>
      <${Message} message=${form.message ?? message} say=${say} />
    </form>`;
}

function Board({ token, first, onRefused, language }) {
  const { overview, rates, lost } = useOverview(token, first, onRefused);
  return html`
    <p class="banner" role="status">${lost && html`<span>${language.say('lost')}</span>`}</p>
    <div class="board">
      <${SeatsLeft} seats=${overview.seats} language=${language} />
      <${Attempts} attempts=${overview.attempts} rates=${rates} language=${language} />
      <${History} history=${overview.history} language=${language} />
      <${Release} token=${token} house=${overview} language=${language} />
      <${Reset} token=${token} house=${overview} total=${first.seats.total} language=${language} />
    </div>`;
}

// {opened: null | {token: null for an admin who is signed in, first}, message, open, leave}
function useAdmission(session) {
  const [opened, setOpened] = useState(null);
  const [message, setMessage] = useState(null);
  const token = useRef(untilClosed.get(TOKEN_KEY));
  const isAdmin = session.user?.role === 'ADMIN';

  const open = (given, first) => {
    if (given) untilClosed.set(TOKEN_KEY, given);
    token.current = given;
    setMessage(null);
    setOpened({ token: given, first });
  };
  const leave = (why = null) => {
    untilClosed.remove(TOKEN_KEY);
    token.current = null;
    setOpened(null);
    setMessage(why);
  };
  const enter = (given) => fetchOverview(given).then((first) => open(given, first), (refused) =>
    setMessage(bad(isShut(refused) ? whyShut(refused) : 'lost')));
  useEffect(() => {
    if (token.current) enter(token.current);
  }, []);
  useEffect(() => {
    if (token.current) return;
    if (isAdmin) enter(null);
    else setOpened(null);
  }, [isAdmin]);
  return { opened, message, open, leave };
}

function App() {
  const language = useLanguage(words);
  const { say } = language;
  const session = useSession();
  const { opened, message, open, leave } = useAdmission(session);
  useEffect(() => {
    document.title = `${say('title')} · Tickettock`;
  }, [language]);
  return html`
    <${Top} title=${say('title')} session=${session} language=${language}>
      <a href="/">${say('toHouse')}</a>
      ${opened?.token && html`<button type="button" onClick=${() => leave()}>${say('leave')}</button>`}
    <//>
    <main>
      ${opened
        ? html`<${Board} ...${opened} onRefused=${(refused) => leave(bad(whyShut(refused)))} language=${language} />`
        : html`<${Entrance} message=${message} signedIn=${Boolean(session.user)} onOpen=${open} language=${language} />`}
    </main>`;
}

render(html`<${App} />`, document.getElementById('page'));
