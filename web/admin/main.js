// The operator's page: a token opens it; figures once a second; a new house.
import { html, render } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { LanguageSwitch, useLanguage } from '/static/shared/language.js';
import { untilClosed } from '/static/shared/memory.js';
import { words } from '/static/admin/words.js';
import { fetchOverview, useOverview } from '/static/admin/overview.js';
import { Attempts, History, SeatsLeft } from '/static/admin/panels.js';
import { Reset } from '/static/admin/reset.js';

const TOKEN_KEY = 'tickettock.admin-token';

const whyNot = (refused) => (refused.status === 403 ? 'wrongToken' : refused.status === 404 ? 'switchedOff' : 'lost');

function Entrance({ problem, setProblem, onOpen, language }) {
  const { say } = language;
  const [token, setToken] = useState('');
  const [underWay, setUnderWay] = useState(false);
  const input = useRef();
  useEffect(() => {
    if (problem) input.current.focus();
  }, [problem]);
  const submit = async (event) => {
    event.preventDefault();
    if (underWay) return;
    setUnderWay(true);
    setProblem(null);
    try {
      onOpen(token, await fetchOverview(token));
    } catch (refused) {
      setProblem(whyNot(refused));
      setUnderWay(false);
    }
  };
  return html`
    <form class="panel entrance" onSubmit=${submit} noValidate>
      <div class=${problem ? 'field wrong' : 'field'}>
        <label for="token">${say('token')}</label>
        <input id="token" type="password" autocomplete="off" value=${token} ref=${input}
          onInput=${(event) => setToken(event.target.value)}
          aria-invalid=${problem ? 'true' : undefined} aria-describedby="token-hint token-problem" />
        <p class="hint" id="token-hint">${say('tokenHint')}</p>
      </div>
      <button class="main" type="submit" aria-disabled=${underWay ? 'true' : undefined}>
        ${say(underWay ? 'entering' : 'enter')}</button>
      <p class=${`message ${problem ? 'bad' : ''}`} id="token-problem" role="status">${problem && say(problem)}</p>
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
      <${Reset} token=${token} total=${first.seats.total} language=${language} />
    </div>`;
}

function App() {
  const language = useLanguage(words);
  const { say } = language;
  const [opened, setOpened] = useState(null); // {token, first}
  const [problem, setProblem] = useState(null);
  const remembered = useRef(untilClosed.get(TOKEN_KEY));

  const open = (token, first) => {
    untilClosed.set(TOKEN_KEY, token);
    setProblem(null);
    setOpened({ token, first });
  };
  const leave = (why = null) => {
    untilClosed.remove(TOKEN_KEY);
    setOpened(null);
    setProblem(why);
  };
  useEffect(() => {
    document.title = `${say('title')} · Tickettock`;
  }, [language]);
  useEffect(() => {
    const token = remembered.current;
    if (token) fetchOverview(token).then((first) => open(token, first), (refused) => setProblem(whyNot(refused)));
  }, []);

  return html`
    <header class="top">
      <h1>${say('title')}</h1>
      <nav>
        <a href="/">${say('toHouse')}</a>
        ${opened && html`<button type="button" onClick=${() => leave()}>${say('leave')}</button>`}
        <${LanguageSwitch} language=${language} />
      </nav>
    </header>
    <main>
      ${opened
        ? html`<${Board} ...${opened} onRefused=${(refused) => leave(whyNot(refused))} language=${language} />`
        : html`<${Entrance} problem=${problem} setProblem=${setProblem} onOpen=${open} language=${language} />`}
    </main>`;
}

render(html`<${App} />`, document.getElementById('page'));
